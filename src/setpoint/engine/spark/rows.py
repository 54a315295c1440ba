"""Committed rows as plain values, for what is sent to the outside world."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from setpoint.model.table import quote
from setpoint.model.transform import sql_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

    from setpoint.model.window import Window

# As JSON rather than as Python objects: collecting a timestamp would read it in the driver's zone.
ROW = (
    "to_json(struct(*), map('timeZone', 'UTC', 'ignoreNullFields', 'false',"
    " 'timestampFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'\","
    " 'timestampNTZFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\")) AS row"
)


def committed_rows(
    spark: SparkSession,
    table: str,
    conditions: Sequence[str],
    *,
    window: Window | None,
    summary: Mapping[str, str],
    order: Sequence[str],
    limit: int,
) -> list[dict[str, Any]]:
    """The rows that meet every condition; with `summary` one row of aggregates over them."""
    where = " AND ".join(f"({each})" for each in conditions) or "true"
    chosen = f"SELECT * FROM {table} WHERE {where}"  # noqa: S608 — the caller quotes the name
    if summary:
        named = ", ".join(f"{text} AS {quote(name)}" for name, text in summary.items())
        chosen = f"SELECT count(1) AS rows, {named} FROM ({chosen})"  # noqa: S608
    frame = spark.sql(chosen, args=sql_parameters(window))
    if order:
        frame = frame.orderBy(*(quote(column) for column in order))
    texts = [row["row"] for row in frame.limit(limit).selectExpr(ROW).collect()]
    if not order:
        # Some order, as long as it is the same in every run.
        texts.sort()
    return [json.loads(text, parse_float=Decimal) for text in texts]


def keyed_rows(frame: Any, columns: Sequence[str], *, limit: int) -> list[tuple[Any, str]]:
    """The rows of a frame as JSON, each with its key as text."""
    from setpoint.model.key import surrogate_key_sql

    quoted = [quote(column) for column in columns]
    # One column is a key already; several are made one so that no two lists read alike.
    key = f"CAST({quoted[0]} AS STRING)" if len(quoted) == 1 else surrogate_key_sql(*quoted)
    found = frame.limit(limit).selectExpr(f"{key} AS key", ROW).collect()
    return [(row["key"], row["row"]) for row in found]
