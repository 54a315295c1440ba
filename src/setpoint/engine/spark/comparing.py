"""Comparing what readers have with what a backfill has written aside."""

from __future__ import annotations

from bisect import bisect_right
from datetime import timedelta
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T

from setpoint.engine.spark.checksum import encode_row
from setpoint.engine.spark.counting import PLACE, place
from setpoint.model.comparison import Comparison, WindowDiff
from setpoint.model.table import quote
from setpoint.model.window_counts import stretch_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame, Row

    from setpoint.model.scope import ColumnKind
    from setpoint.model.window import Window

SAMPLES = 5
DIGEST = "__setpoint_digest"
AFTER = "__setpoint_after"


def compare(
    before: DataFrame,
    after: DataFrame,
    windows: Sequence[Window],
    *,
    by: str,
    kind: ColumnKind,
    key: Sequence[str],
) -> Comparison:
    """Rows added, removed and changed in each window; without a key nothing can be `changed`."""
    # What identifies a row: its key, or all of it.
    named = [quote(name) for name in key] or [DIGEST]
    where = place(windows, by, kind)
    stacked = _side(before, where, key, 0).unionByName(_side(after, where, key, 1))
    new = F.col(AFTER) == 1
    grouped = stacked.groupBy(PLACE, *named).agg(
        F.count_if(~new).alias("before"),
        F.count_if(new).alias("after"),
        F.collect_set(F.when(~new, F.col(DIGEST))).alias("old"),
        F.collect_set(F.when(new, F.col(DIGEST))).alias("new"),
    )
    both = (F.col("before") > 0) & (F.col("after") > 0)
    differs = both & (F.sort_array("old") != F.sort_array("new"))
    more, less = F.col("after") - F.col("before"), F.col("before") - F.col("after")
    counts = grouped.groupBy(PLACE).agg(
        F.sum("before").alias("before"),
        F.sum("after").alias("after"),
        F.sum(F.greatest(more, F.lit(0))).alias("added"),
        F.sum(F.greatest(less, F.lit(0))).alias("removed"),
        F.count_if(differs).alias("changed"),
    )
    other = grouped.where((F.col("before") != F.col("after")) | differs)
    shown = other.orderBy(PLACE, *named).limit(SAMPLES).collect() if key else []
    return Comparison(
        windows=_diffs(windows, counts.collect()),
        sums=_sums(before, after),
        sample=tuple(_words(row, key) for row in shown),
    )


def _side(frame: DataFrame, where: Column, key: Sequence[str], after: int) -> DataFrame:
    return frame.select(
        where.alias(PLACE),
        *(F.col(quote(name)) for name in key),
        F.sha2(encode_row(frame), 256).alias(DIGEST),
        F.lit(after).alias(AFTER),
    )


def _diffs(windows: Sequence[Window], rows: Sequence[Row]) -> tuple[WindowDiff, ...]:
    step = timedelta(seconds=stretch_seconds(windows))
    starts = [(window.start - windows[0].start) // step for window in windows]
    names = ("before", "after", "added", "removed", "changed")
    totals = [dict.fromkeys(names, 0) for _ in windows]
    for row in rows:
        found = totals[bisect_right(starts, int(row[PLACE])) - 1]
        for name in names:
            found[name] += int(row[name])
    return tuple(
        WindowDiff(window=window, **found) for window, found in zip(windows, totals, strict=True)
    )


def _sums(before: DataFrame, after: DataFrame) -> dict[str, tuple[str, str]]:
    numeric = [
        field.name for field in after.schema.fields if isinstance(field.dataType, T.NumericType)
    ]
    if not numeric:
        return {}
    old, new = (
        frame.agg(*(F.sum(quote(name)).alias(name) for name in numeric)).collect()[0]
        for frame in (before, after)
    )
    return {name: (_number(old[name]), _number(new[name])) for name in numeric}


def _number(value: object) -> str:
    return "0" if value is None else str(value)


def _words(row: Row, key: Sequence[str]) -> str:
    named = ", ".join(f"{name}={row[name]}" for name in key)
    if not row["before"]:
        return f"added: {named}"
    return f"removed: {named}" if not row["after"] else f"changed: {named}"
