"""A merge on Spark: the batch reduced to one row a key, and the rows that stand in a tie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T

from setpoint.engine.spark.translation import gate_stop
from setpoint.errors import GateFailed, ResultMisshapen
from setpoint.model.gate import TieGate, UniqueGate
from setpoint.model.merging import (
    DELETED,
    Comparable,
    content_sql,
    marked_columns,
    matching_sql,
    ranked_columns,
    reduced_filter,
    same_sql,
)
from setpoint.model.table import quote
from setpoint.model.write import Merge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from setpoint.model.task import Task

SAMPLES = 5


def stored(frame: DataFrame, task: Task) -> DataFrame:
    """The frame as the table stores it."""
    return marked(frame, task.write) if isinstance(task.write, Merge) else frame


def marked(frame: DataFrame, merge: Merge) -> DataFrame:
    """The frame with deletes as tombstones."""
    if DELETED in (name.lower() for name in frame.columns):
        raise ResultMisshapen(
            f"the result has a column {DELETED}, which Setpoint keeps tombstones in",
            next_step="call the column otherwise",
        )
    return frame.selectExpr(*marked_columns(merge, frame.columns))


def reduced(frame: DataFrame, merge: Merge, stop: str) -> DataFrame:
    """One row a key, the newest; stops at two contents of one version."""
    content = comparable(frame)
    ranked = frame.selectExpr(*ranked_columns(merge, content))
    kept = ranked.where(reduced_filter(merge, content, stop))
    return kept.selectExpr(*(quote(name) for name in frame.columns))


def comparable(frame: DataFrame) -> list[Comparable]:
    """How each column of the frame is compared with another row's."""
    return [_comparable(field) for field in frame.schema.fields]


def tie_stop(task: Task) -> str:
    """The expression that stops a merge at a tie."""
    return gate_stop(next(n for n, gate in enumerate(task.gates) if isinstance(gate, TieGate)))


def diagnose_tie(frame: DataFrame, merge: Merge, table: DataFrame | None) -> GateFailed:
    """The error for a tie, with up to five of the rows that stand in one."""
    samples = _ties_in(frame, merge)
    where = "the result"
    if not samples and table is not None:
        samples = _ties_between(frame, table, merge)
        where = "the result and the table"
    one = ", ".join(merge.on) + (f" and {merge.version}" if merge.version else "")
    return GateFailed(
        f"rows of one version differ in {where}; nothing was written",
        gate=TieGate.name,
        expected=f"one content for each {one}",
        found=f"{len(samples)}{' or more' if len(samples) == SAMPLES else ''} such rows",
        samples=[_sample(row) for row in samples],
        next_step="use a version that grows with every change, such as a sequence number or log "
        "position; if the task's code has changed, let its rows have a newer version"
        if merge.version
        else f"reduce the result to one row for each {', '.join(merge.on)}, or give a version",
    )


def repeated_keys(table: DataFrame, merge: Merge) -> None:
    """Refuse a table in which a key of the merge occurs more than once."""
    columns = [F.col(quote(name)) for name in merge.on]
    counted = table.groupBy(*columns).agg(F.count(F.lit(1)).alias("rows"))
    found = counted.where("rows > 1").orderBy(*columns).limit(SAMPLES).collect()
    if found:
        raise GateFailed(
            "keys occur more than once in the table itself; nothing was written",
            gate=UniqueGate.name,
            expected=f"one row for each {', '.join(merge.on)} in the table",
            found=f"{len(found)}{' or more' if len(found) == SAMPLES else ''} keys that repeat",
            samples=[_sample(row) for row in found],
            next_step="delete the rows that are too many, then run the same command again",
        )


def _ties_in(frame: DataFrame, merge: Merge) -> list[Row]:
    columns = [*merge.on, *([merge.version] if merge.version else [])]
    ties = (
        frame.withColumn("__content", F.expr(content_sql(comparable(frame))))
        .groupBy(*(F.col(quote(name)) for name in columns))
        .agg(F.count_distinct("__content").alias("__contents"))
        .where("__contents > 1")
        .drop("__contents")
    )
    order = [quote(name) for name in columns]
    found = frame.join(ties, [*columns]).orderBy(*order).limit(SAMPLES)
    return found.select(*(F.col(quote(name)) for name in frame.columns)).collect()


def _ties_between(frame: DataFrame, table: DataFrame, merge: Merge) -> list[Row]:
    if merge.version is None:
        return []
    version = quote(merge.version)
    same = same_sql(comparable(frame))
    joined = frame.alias("s").join(
        table.alias("t"),
        F.expr(f"{matching_sql(merge)} AND s.{version} = t.{version} AND NOT ({same})"),
    )
    found = joined.select("s.*").orderBy(*(quote(name) for name in merge.on)).limit(SAMPLES)
    return found.collect()


def _comparable(field: T.StructField) -> Comparable:
    kind = field.dataType
    if isinstance(kind, T.MapType) and not _has_map(kind.valueType):
        return Comparable(name=field.name, pattern="array_sort(map_entries({}))")
    if _has_map(kind):
        raise ResultMisshapen(
            f"{field.name} is a {kind.simpleString()}: maps inside of other types cannot be "
            "compared, so a merge could not tell whether a row changed",
            next_step="cast it in the task, e.g. with to_json",
        )
    return Comparable(name=field.name)


def _has_map(kind: T.DataType) -> bool:
    if isinstance(kind, T.MapType):
        return True
    if isinstance(kind, T.ArrayType):
        return _has_map(kind.elementType)
    return isinstance(kind, T.StructType) and any(_has_map(f.dataType) for f in kind.fields)


def _sample(row: Row) -> str:
    return ", ".join(f"{name}={value}" for name, value in row.asDict().items())
