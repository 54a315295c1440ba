from tests.auditing.asking import audit, spots

from setpoint.auditing.finding import Verdict
from setpoint.auditing.lineage import upstream


def test_a_second_insert_is_found_on_its_line() -> None:
    """An INSERT … SELECT without a guard is W01 on the statement's first line."""
    assert spots("SELECT 1;\n\nINSERT INTO t\nSELECT * FROM s;\n") == [("W01", 3)]


def test_lineage_goes_through_sql_tables_and_dbt_references() -> None:
    """`upstream` finds the writers of a table and of all that they read, and nothing else."""
    report = audit(
        {
            "a.sql": "INSERT OVERWRITE TABLE lake.raw SELECT * FROM src;",
            "b.sql": "INSERT OVERWRITE TABLE lake.mid SELECT * FROM raw;",
            "c.sql": "INSERT OVERWRITE TABLE lake.other SELECT * FROM elsewhere;",
            "models/top.sql": "select * from {{ source('lake', 'mid') }}",
        }
    )
    assert {one.name for one in upstream(report, "top")} == {"a", "b", "top"}


def test_verdicts_say_safe_unsafe_and_unknown() -> None:
    """A pipeline with a finding is unsafe, one with an unread statement unknown, else safe."""
    report = audit(
        {
            "bad.sql": "INSERT INTO t SELECT * FROM s;",
            "good.sql": "INSERT OVERWRITE TABLE t SELECT * FROM s;",
            "odd.sql": "TRUNCATE TABLE t; INSERT INTO t SELECT ((( FROM WHERE;",
        }
    )
    assert {one.name: one.verdict for one in report.pipelines} == {
        "bad": Verdict.UNSAFE,
        "good": Verdict.SAFE,
        "odd": Verdict.UNKNOWN,
    }
    assert [one.path for one in report.unparsed] == ["odd.sql"]
