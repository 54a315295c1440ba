"""Mechanical fixes: few, and right."""

from __future__ import annotations

from tests.auditing.asking import audit

from setpoint.auditing.rules.registry import RULES


def applied(path: str, text: str) -> str:
    """The text after the edits of all findings."""
    report = audit({path: text})
    edits = sorted(
        (edit for one in report.findings for edit in one.edits), key=lambda one: -one.start
    )
    for edit in edits:
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def test_a_random_column_gets_a_seed() -> None:
    """`F.rand()` becomes `F.rand(0)`, whatever stands around it."""
    text = (
        "from pyspark.sql import functions as F\n"
        'é = df.withColumn("x", F.rand()).write.mode("overwrite").saveAsTable("t")\n'
    )
    assert applied("a.py", text) == text.replace("rand()", "rand(0)")


def test_an_unused_exception_is_removed() -> None:
    """The comment goes, with its line when it stands alone."""
    text = (
        "-- setpoint: ignore[W01] old\nTRUNCATE TABLE t; -- setpoint: ignore[W02] old\nSELECT 1;\n"
    )
    assert applied("a.sql", text) == "TRUNCATE TABLE t;\nSELECT 1;\n"


def test_every_finding_says_its_fix() -> None:
    """Each rule has words for what, why, before, after and when to let it be."""
    for rule in RULES:
        assert all((rule.what, rule.why, rule.before, rule.after, rule.ignore_when)), rule.id
        assert rule.before.split("\n")[0] in {"sql", "python"}, rule.id


def test_the_fix_names_the_table_in_its_dialect() -> None:
    """A fix is written for the spot, not in general."""
    report = audit({"a.sql": "INSERT INTO dbo.sales SELECT a FROM dbo.s"})
    assert "DELETE FROM dbo.sales WHERE <date column> = @ds" in report.findings[0].fix
