"""The quick sum: equal for equal rows in any order, another for any other rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.engine.spark.quick_sum import quick_hashes, quick_sums, quick_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SHAPES = {
    "a INT, b INT": ["(1, NULL)", "(NULL, 1)", "(NULL, NULL)", "(0, 1)", "(1, 0)"],
    "a STRING, b STRING": ["('x', 'y')", "('xy', '')", "('', 'xy')", "('xy', NULL)"],
    "a ARRAY<INT>, b ARRAY<INT>": [
        "(array(1), array(2, 3))",
        "(array(1, 2), array(3))",
        "(array(1, 2, 3), NULL)",
        "(array(), array(1, 2, 3))",
        "(array(1, 2, 3), array())",
    ],
    "a MAP<STRING, INT>, b INT": ["(map('k', 1), 2)", "(map('k', 2), 1)", "(map('l', 1), 2)"],
    "a STRUCT<p: INT, q: INT>, b INT": [
        "(named_struct('p', 1, 'q', NULL), 2)",
        "(named_struct('p', NULL, 'q', 1), 2)",
        "(NULL, 2)",
    ],
}


def summed(spark: SparkSession, shape: str, rows: list[str], parts: int = 1) -> str:
    """The quick sum of rows of a shape."""
    kinds = [part.strip().split(" ", 1) for part in _parts(shape)]
    names = ", ".join(name for name, _ in kinds)
    casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in kinds)
    frame = spark.sql(f"SELECT {casts} FROM VALUES {', '.join(rows)} AS t({names})")
    (row,) = frame.repartition(parts).select(*quick_hashes(frame)).agg(*quick_sums()).collect()
    return quick_text(row)


def _parts(shape: str) -> list[str]:
    first, _, second = shape.partition(", b ")
    return [first, f"b {second}"]


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_that_differ_anyhow_have_another_sum(jvm: SparkSession, shape: str) -> None:
    """Nulls beside values, text and lists cut elsewhere, a row twice: all are told apart."""
    rows = SHAPES[shape]
    assert len({summed(jvm, shape, [row]) for row in rows}) == len(rows)
    assert summed(jvm, shape, [rows[0]]) != summed(jvm, shape, [rows[0], rows[0]])
    assert summed(jvm, shape, rows, 3) == summed(jvm, shape, rows[::-1])
