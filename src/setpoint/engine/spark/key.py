"""Surrogate keys as Spark columns; the definition is in `setpoint.model.key`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import Column

STAMP = "yyyy-MM-dd HH:mm:ss.SSSSSS"
PLAIN_TYPES = ("string", "boolean", "tinyint", "smallint", "int", "bigint", "date")


def surrogate_key(*columns: Column | str) -> Column:
    """A deterministic key: the same from Python, the DataFrame API and SQL."""
    if not columns:
        raise UsageError("surrogate_key needs at least one column")
    parts = [_counted(_text(F.col(c) if isinstance(c, str) else c)) for c in columns]
    return F.sha2(F.concat(*parts), 256)


def _counted(text: Column) -> Column:
    length = F.octet_length(text).cast("string")
    return F.coalesce(F.concat(length, F.lit(":"), text), F.lit("n"))


def _text(column: Column) -> Column:
    kind = F.typeof(column)
    options = {"timeZone": "UTC", "timestampFormat": STAMP, "timestampNTZFormat": STAMP}
    stamp = F.substring(F.to_json(F.named_struct(F.lit("v"), column), options), 7, 26)
    plain = column.cast("string")
    refused = F.concat(F.lit("surrogate_key: a "), kind, F.lit(" cannot be part of a key"))
    return (
        F.when(column.isNull(), F.lit(None))
        .when(kind.isin("timestamp", "timestamp_ntz"), stamp)
        .when(
            kind.like("decimal%"),
            F.when(F.contains(plain, F.lit(".")), F.regexp_replace(plain, r"\.?0+$", "")).otherwise(
                plain
            ),
        )
        .when(kind.isin(*PLAIN_TYPES), plain)
        .otherwise(F.raise_error(refused).cast("string"))
    )
