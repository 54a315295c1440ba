"""Levels derived from adjustments, in Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame


def levels(
    adjustments: DataFrame,
    *,
    by: str | Sequence[str],
    key: str,
    delta: str = "delta",
    opening: DataFrame | None = None,
    quantity: str = "qty",
) -> DataFrame:
    """The level of each thing: its opening plus its adjustments, each of them counted once.

    Args:
        adjustments: Changes, each under a deterministic id; a repeated one counts once, and one
            that is there with two deltas stops the job.
        by: The column or columns that name the thing.
        key: The column of the adjustment's id.
        delta: The column of the change.
        opening: Levels to begin with, in `quantity`; things without an opening begin at 0.
        quantity: The column of the result.
    """
    from pyspark.sql import functions as F

    columns = [by] if isinstance(by, str) else list(by)
    least, most = F.min(delta), F.max(delta)
    torn = F.raise_error(
        F.concat(F.lit("adjustment "), F.col(key).cast("string"), F.lit(" has two deltas"))
    )
    one = adjustments.groupBy(*columns, key).agg(least.alias("_least"), most.alias("_most"))
    kept = F.when(F.col("_least") == F.col("_most"), F.col("_least")).otherwise(torn)
    changes = one.withColumn("_delta", kept).groupBy(*columns).agg(F.sum("_delta").alias("_sum"))
    if opening is None:
        return changes.select(*columns, F.col("_sum").alias(quantity))
    both = opening.select(*columns, quantity).join(changes, columns, "full_outer")
    level = F.coalesce(F.col(quantity), F.lit(0)) + F.coalesce(F.col("_sum"), F.lit(0))
    return both.select(*columns, level.alias(quantity))
