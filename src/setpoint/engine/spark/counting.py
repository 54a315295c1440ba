"""Rows by window: from a commit's own counts where they tell, else by one look at the column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from setpoint.model.scope import ColumnKind
from setpoint.model.table import quote
from setpoint.model.transform import source_sql
from setpoint.model.window_counts import by_partition, by_stretch, stretch_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    from setpoint.engine.protocol import Outcome
    from setpoint.engine.spark.target import Target
    from setpoint.model.window import Window
    from setpoint.model.window_counts import WindowCount

PLACE = "__setpoint_place"


def window_counts(
    spark: SparkSession,
    target: Target,
    outcome: Outcome,
    windows: Sequence[Window],
    *,
    by: str,
    kind: ColumnKind,
    scope: str,
    before: str | None,
    earlier: dict[int, int] | None = None,
) -> tuple[WindowCount, ...]:
    """The rows of each window after a commit, and those that stood there before.

    `before` is the snapshot that the commit was made onto, where the table keeps any; `earlier`
    the rows of each stretch counted ahead of the commit, where it keeps none.
    """
    if sum(outcome.partitions.values()) == outcome.rows and (
        sum(outcome.removed.values()) == (outcome.replaced or 0)
    ):
        found = by_partition(windows, by, kind, outcome.partitions, outcome.removed)
        if found is not None:
            return tuple(found)
    after = counted(
        spark.sql(source_sql(target.reference(outcome.snapshot), scope)), windows, by, kind
    )
    if earlier is None:
        earlier = {}
        if before is not None and outcome.replaced != 0:
            old = spark.sql(source_sql(target.reference(before), scope))
            earlier = counted(old, windows, by, kind)
    return tuple(by_stretch(windows, after, earlier))


def counted(
    frame: DataFrame, windows: Sequence[Window], by: str, kind: ColumnKind
) -> dict[int, int]:
    """Rows by numbered stretches of time, from the first window's start."""
    found = frame.groupBy(place(windows, by, kind).alias(PLACE)).count().collect()
    return {int(row[PLACE]): int(row["count"]) for row in found if row[PLACE] is not None}


def place(windows: Sequence[Window], by: str, kind: ColumnKind) -> Column:
    """The number of the stretch that a row lies in."""
    column = F.col(quote(by))
    if kind in (ColumnKind.DATE, ColumnKind.STRING):
        # Midnight in the session's zone, which is the task's: where the day begins.
        column = column.cast("date").cast("timestamp")
    elif kind is ColumnKind.TIMESTAMP_NTZ:
        column = column.cast("timestamp")
    first = int(windows[0].start.timestamp())
    step = stretch_seconds(windows)
    return F.floor((F.unix_seconds(column) - F.lit(first)) / F.lit(step)).cast("long")
