"""A quick sum over the content of rows, to compare tables of one shape within one session.

`ck1` is for records that others read later, in other languages too: it spells each row out and
takes its SHA-256. Here Spark hashes the columns as they are, which is several times faster, and
nobody keeps the sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T

from setpoint.engine.spark.checksum import encode_value
from setpoint.errors import UsageError
from setpoint.model.table import quote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row

HALF = 0xFFFFFFFF
NESTED = (T.ArrayType, T.MapType, T.StructType, T.VariantType)
SUMS = ("low", "high", "other_low", "other_high")


def quick_hashes(frame: DataFrame) -> list[Column]:
    """Two hashes of each row, as columns `one` and `other`."""
    hashed: list[Column] = []
    for field in frame.schema.fields:
        column = F.col(quote(field.name))
        # A null alone leaves the hash as it was. Whether a column may be null is no reason to leave
        # this out: of two tables to compare, one may know that it has none.
        hashed += [_hashable(column, field.dataType), column.isNull()]
    return [
        F.xxhash64(*hashed).alias("one"),
        F.xxhash64(F.lit(1), *hashed).alias("other"),
    ]


def _hashable(column: Column, kind: T.DataType) -> Column:
    if not isinstance(kind, NESTED):
        return column
    try:
        # Hashed as they are, [1], [2, 3] and [1, 2], [3] would be the same; maps are refused.
        return encode_value(column, kind)
    except UsageError:  # a part that ck1 has no encoding for
        return column.cast("string")


def quick_sums() -> list[Column]:
    """The aggregates over `one` and `other`: sums of halves, which cannot overflow."""
    return [
        F.count(F.lit(1)).alias("rows"),
        F.sum(F.col("one").bitwiseAND(F.lit(HALF))).alias("low"),
        F.sum(F.shiftrightunsigned("one", 32)).alias("high"),
        F.sum(F.col("other").bitwiseAND(F.lit(HALF))).alias("other_low"),
        F.sum(F.shiftrightunsigned("other", 32)).alias("other_high"),
    ]


def quick_text(row: Row) -> str:
    """The sums of one group as a text."""
    return ":".join(str(row[name]) for name in ("rows", *SUMS))
