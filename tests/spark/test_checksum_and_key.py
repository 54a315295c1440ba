"""Checksums and surrogate keys are the same in Python, in the DataFrame API and in SQL."""

from __future__ import annotations

import random
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import Row
from pyspark.sql import types as T

from setpoint.engine.spark.checksum import checksum
from setpoint.engine.spark.key import surrogate_key
from setpoint.model.checksum import ck1
from setpoint.model.key import surrogate_key_of, surrogate_key_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SLOW = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LONG = st.integers(-(2**63), 2**63 - 1)
DATES = st.dates(date(1, 1, 1), date(9999, 12, 31))
WALLS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))  # noqa: DTZ001
STAMPS = st.datetimes(
    datetime(1900, 1, 2),  # noqa: DTZ001
    datetime(2999, 12, 30),  # noqa: DTZ001
    timezones=st.just(timezone.utc),
)
Point = Row("y", "x")
COLUMNS: dict[str, tuple[T.DataType, st.SearchStrategy[Any]]] = {
    "flag": (T.BooleanType(), st.booleans()),
    "number": (T.LongType(), LONG),
    "small": (T.ShortType(), st.integers(-(2**15), 2**15 - 1)),
    "price": (T.DecimalType(10, 2), st.decimals(-(10**7), 10**7, places=2)),
    "exact": (T.DecimalType(38, 18), st.decimals(-(10**15), 10**15, places=18)),
    "float": (T.DoubleType(), st.floats()),
    "text": (T.StringType(), TEXT),
    "bytes": (T.BinaryType(), st.binary(max_size=8)),
    "day": (T.DateType(), DATES),
    "stamp": (T.TimestampType(), STAMPS),
    "wall": (T.TimestampNTZType(), WALLS),
    "list": (T.ArrayType(T.LongType()), st.lists(st.none() | LONG, max_size=3)),
    "map": (
        T.MapType(T.StringType(), T.DoubleType()),
        st.dictionaries(TEXT, st.none() | st.floats(), max_size=3),
    ),
    "Odd `name`": (
        T.StructType([T.StructField("y", T.StringType()), T.StructField("x", T.LongType())]),
        st.builds(Point, st.none() | TEXT, st.none() | LONG),
    ),
}
SCHEMA = T.StructType([T.StructField(name, kind) for name, (kind, _) in COLUMNS.items()])
ROWS = st.lists(
    st.tuples(*(st.none() | values for _, values in COLUMNS.values())), min_size=1, max_size=12
)


@SLOW
@given(rows=ROWS, seed=st.integers(0, 1000))
def test_ck1_is_equal_in_spark_and_python(
    jvm: SparkSession, rows: list[tuple[Any, ...]], seed: int
) -> None:
    """Over all types and nulls, in any order of rows and columns and any partitioning."""
    expected = ck1(dict(zip(SCHEMA.names, row, strict=True)) for row in rows)
    frame = jvm.createDataFrame(rows, SCHEMA)
    assert checksum(frame) == expected
    chance = random.Random(seed)
    shuffled = chance.sample(rows, len(rows))
    names = chance.sample(SCHEMA.names, len(SCHEMA.names))
    quoted = ["`" + name.replace("`", "``") + "`" for name in names]
    again = jvm.createDataFrame(shuffled, SCHEMA).repartition(3).select(*quoted)
    assert checksum(again) == expected


def test_ck1_does_not_change_when_a_column_is_widened(jvm: SparkSession) -> None:
    """An int that became a bigint, and a decimal with more digits, hold the same values."""
    narrow = jvm.sql("SELECT CAST(7 AS INT) AS n, CAST(1.5 AS DECIMAL(4,2)) AS d")
    wide = jvm.sql("SELECT CAST(7 AS BIGINT) AS n, CAST(1.5 AS DECIMAL(20,9)) AS d")
    assert checksum(narrow) == checksum(wide)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("'' AS a", "CAST(NULL AS STRING) AS a"),
        ("'0' AS a", "0 AS a"),
        ("'ab' AS a, 'c' AS b", "'a' AS a, 'bc' AS b"),
        ("'x' AS a, 'y' AS b", "'y' AS a, 'x' AS b"),
        ("array('a', NULL) AS a", "array('a') AS a"),
        ("'\u00e9' AS a", "'e\u0301' AS a"),
        ("DATE '1970-01-02' AS a", "1 AS a"),
    ],
)
def test_scenario_33_ck1_tells_lookalikes_apart(jvm: SparkSession, one: str, other: str) -> None:
    """Null, empty, shifted, swapped and differently normalised values are different rows."""
    assert checksum(jvm.sql(f"SELECT {one}")) != checksum(jvm.sql(f"SELECT {other}"))


def test_scenario_33_ck1_on_200_columns_and_odd_floats(jvm: SparkSession) -> None:
    """Wide rows work; NaNs are one value and -0.0 is 0.0."""
    wide = ", ".join(f"{n} AS c{n}" for n in range(200))
    assert checksum(jvm.sql(f"SELECT {wide}")) == ck1([{f"c{n}": n for n in range(200)}])
    floats = jvm.sql("SELECT CAST('NaN' AS DOUBLE) AS a, -CAST(0 AS DOUBLE) AS b")
    assert checksum(floats) == ck1([{"a": float("nan"), "b": 0.0}])


KEYS: dict[str, tuple[T.DataType, st.SearchStrategy[Any]]] = {
    name: COLUMNS[name] for name in ("flag", "number", "price", "text", "day", "stamp", "wall")
}
KEY_SCHEMA = T.StructType([T.StructField(name, kind) for name, (kind, _) in KEYS.items()])


@SLOW
@given(
    rows=st.lists(
        st.tuples(*(st.none() | values for _, values in KEYS.values())), min_size=1, max_size=12
    ),
    zone=st.sampled_from(["UTC", "Europe/Paris", "America/Los_Angeles"]),
)
def test_a_surrogate_key_is_the_same_everywhere(
    jvm: SparkSession, rows: list[tuple[Any, ...]], zone: str
) -> None:
    """C2: byte for byte, whatever the session's zone."""
    expected = [surrogate_key_of(*row) for row in rows]
    jvm.conf.set("spark.sql.session.timeZone", zone)
    try:
        frame = jvm.createDataFrame(rows, KEY_SCHEMA)
        names = KEY_SCHEMA.names
        by_column = frame.select(surrogate_key(*names)).collect()
        by_sql = frame.selectExpr(surrogate_key_sql(*names)).collect()
    finally:
        jvm.conf.set("spark.sql.session.timeZone", "UTC")
    assert [row[0] for row in by_column] == expected
    assert [row[0] for row in by_sql] == expected


def test_floats_cannot_be_part_of_a_key(jvm: SparkSession) -> None:
    """Their text is not stable; the error says so, from both ways in."""
    frame = jvm.sql("SELECT CAST(1.5 AS DOUBLE) AS f")
    with pytest.raises(Exception, match="a double cannot be part of a key"):
        frame.select(surrogate_key("f")).collect()
    with pytest.raises(Exception, match="a double cannot be part of a key"):
        frame.selectExpr(surrogate_key_sql("f")).collect()


def test_decimals_are_plain_text_without_ansi_mode(jvm: SparkSession) -> None:
    """A session without ANSI mode writes small decimals with exponents; the checksum does not."""
    jvm.conf.set("spark.sql.ansi.enabled", "false")
    try:
        frame = jvm.sql("SELECT CAST('0.0000000001' AS DECIMAL(20,10)) AS d")
        assert checksum(frame) == ck1([{"d": Decimal("0.0000000001")}])
    finally:
        jvm.conf.set("spark.sql.ansi.enabled", "true")
