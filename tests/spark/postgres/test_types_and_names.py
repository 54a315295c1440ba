"""Every type and any name goes into Postgres and comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.errors import ResultMisshapen

if TYPE_CHECKING:
    from tests.spark.postgres.conftest import Mart

pytestmark = pytest.mark.spark
TYPES = {
    "flag": "true",
    "tiny": "CAST(-1 AS TINYINT)",
    "small": "CAST(2 AS SMALLINT)",
    "whole": "3",
    "large": "9223372036854775807L",
    "single": "CAST(1.5 AS FLOAT)",
    "real": "CAST('NaN' AS DOUBLE)",
    "price": "CAST(-12345678.90 AS DECIMAL(10,2))",
    "exact": "CAST('12345678901234567890.123456789012345678' AS DECIMAL(38,18))",
    "words": "concat('a\\\\t\\\"b', char(10), ',é😀')",
    "nothing": "CAST(NULL AS STRING)",
    "empty": "''",
    "bytes": "X'00FF'",
    "day": "DATE '2026-04-25'",
    "moment": "TIMESTAMP '2026-04-25 10:11:12.123456Z'",
    "wall": "TIMESTAMP_NTZ '2026-10-25 02:30:00.000001'",
    "numbers": "array(1, NULL, 3)",
    "texts": "array('a', '\"', NULL, '', '{b,c}', 'NULL', concat('d', char(92)))",
    "moments": "array(TIMESTAMP '2026-04-25 10:11:12.5Z', NULL)",
    "prices": "array(CAST(1.10 AS DECIMAL(10,2)), NULL)",
    "flags": "array(true, NULL)",
}


@pytest.mark.usefixtures("path")
def test_every_type_comes_back_as_it_went(mart: Mart) -> None:
    """The same values, whichever way the rows travel; a second run changes nothing."""
    select = ", ".join(f"{value} AS {name}" for name, value in TYPES.items())
    mart.sql(f"/* {{target: mart.public.types, unique_key: large}} */\nSELECT {select}", "types")
    first, second = (mart.ok(checksum=True)[0] for _ in range(2))
    assert first.checksum == second.checksum
    view = mart.engine._target(first.step.task.target).reference()
    names = [name for name in TYPES if name != "tiny"]
    back = mart.spark.sql(f"SELECT {', '.join(names)} FROM {view}")
    sent = mart.spark.sql(f"SELECT {select}").select(*names)
    assert [f.dataType for f in back.schema.fields] == [f.dataType for f in sent.schema.fields]
    assert str(back.collect()) == str(sent.collect())


def test_nested_values_are_kept_as_json(mart: Mart) -> None:
    """A struct and a map become jsonb, which Postgres can look into."""
    mart.sql(
        "/* {target: mart.public.nested} */ SELECT named_struct('a', 1, 'b', 'x') AS s, "
        "map('k', array(1, 2)) AS m",
        "nested",
    )
    mart.ok()
    assert mart.pg("SELECT s->>'b', m->'k'->>1 FROM nested") == [("x", "2")]


def test_a_type_that_postgres_does_not_have_is_refused(mart: Mart) -> None:
    """Said before anything is written, with what to do."""
    mart.sql("/* {target: mart.public.x} */ SELECT INTERVAL '1' DAY AS length", "x")
    error = mart.error()
    assert isinstance(error, ResultMisshapen)
    assert "length (interval day)" in error.message


@pytest.mark.parametrize(
    "name", ['a"b; DROP TABLE x --', "Größe ☕", "select", "a.b", "it's", "%s {0}", "UPPER case"]
)
def test_scenario_34_odd_names_are_quoted(mart: Mart, name: str) -> None:
    """As table, schema and column: the name is one name, and nothing of it is run."""
    mart.python(f"""
        NAME = {name!r}

        @task(target="mart.`" + NAME + "`.`" + NAME + "`", unique_key=NAME)
        def odd(spark):
            return spark.range(3).toDF("x").select(F.col("x").alias(NAME))
    """)
    assert [mart.ok()[0].rows for _ in range(2)] == [3, 3]
    tables = mart.pg("SELECT schemaname, tablename FROM pg_tables WHERE schemaname !~ '^(pg_|inf)'")
    assert (name, name) in tables
    assert len([schema for schema, _ in tables if not schema.startswith("setpoint")]) == 1


def test_a_value_that_the_column_cannot_hold_is_refused(mart: Mart) -> None:
    """The server refuses it inside the transaction; the old rows stay."""
    mart.pg("CREATE TABLE codes (code varchar(3))")
    mart.sql("/* {target: mart.public.codes} */ SELECT 'abc' AS code", "codes")
    mart.ok()
    mart.sql("/* {target: mart.public.codes} */ SELECT 'abcd' AS code", "codes")
    error = mart.error()
    assert isinstance(error, ResultMisshapen)
    assert "too long" in error.message
    mart.pg("ALTER TABLE codes ADD CHECK (code <> 'xyz')")
    mart.sql("/* {target: mart.public.codes} */ SELECT 'xyz' AS code", "codes")
    error = mart.error()
    assert isinstance(error, ResultMisshapen)
    assert "violates check constraint" in error.message
    assert mart.pg("SELECT code FROM codes") == [("abc",)]
