"""Sources, bounded to the window before the transform sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from setpoint.errors import ResultMisshapen, RunError, SourceFault
from setpoint.model.scope import ColumnKind, source_bounds
from setpoint.model.transform import source_sql
from setpoint.model.write import window_column

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from setpoint.model.task import BoundSource, Task
    from setpoint.model.window import Window

MISSING = (
    "TABLE_OR_VIEW",
    "SCHEMA_NOT_FOUND",
    "PATH_NOT_FOUND",
    "DELTA_MISSING_DELTA_TABLE",
    "DELTA_TABLE_NOT_FOUND",
)


def source_kinds(
    spark: SparkSession, task: Task, tables: Mapping[str, str]
) -> dict[str, ColumnKind]:
    """The kind of each source's event-time column; a static source has none."""
    kinds = {s.name: _kind(_schema(spark, s, tables[s.name]), s) for s in task.sources}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def bounded_sources(
    task: Task,
    window: Window | None,
    tables: Mapping[str, str],
    kinds: Mapping[str, ColumnKind],
    *,
    already: Collection[str] = (),
) -> dict[str, str]:
    """For each source the query that reads it, bounded by its event time.

    `already` names those whose table is bounded by the database that holds it.
    """
    queries = {}
    for source in task.sources:
        try:
            bounds = source_bounds(source, window, kinds.get(source.name))
        except RunError as error:
            raise SourceFault(
                f"source {source.name}: {error.message}",
                facts=error.facts,
                next_step=error.next_step,
            ) from None
        bounds = None if source.name in already else bounds
        queries[source.name] = source_sql(tables[source.name], bounds)
    return queries


def _kind(schema: StructType, source: BoundSource) -> ColumnKind | None:
    if source.event_time is None:
        return None
    columns = {field.name.lower(): field for field in schema.fields}
    field = columns.get(source.event_time.lower())
    if field is None:
        raise SourceFault(
            f"source {source.name} has no column {source.event_time!r}",
            facts={"source": str(source.table), "columns": ", ".join(schema.names)},
            next_step="correct event_time in the task",
        )
    kind = ColumnKind.of(field.dataType.simpleString())
    if kind is None:
        raise SourceFault(
            f"source {source.name}: {field.name} is a {field.dataType.simpleString()}, "
            "which cannot be bounded by time",
            facts={"source": str(source.table), "expected": "timestamp, date or ISO text"},
            next_step="use a time column as event_time",
        )
    return kind


def _schema(spark: SparkSession, source: BoundSource, table: str) -> StructType:
    try:
        return spark.sql(source_sql(table, None)).schema
    except AnalysisException as error:
        if not (error.getCondition() or "").startswith(MISSING):
            raise
        raise SourceFault(
            f"source {source.name}: the table {source.table} does not exist",
            next_step="check the name, or run the task that makes it first",
        ) from None


def target_kind(frame: DataFrame, task: Task) -> ColumnKind | None:
    """The kind of the column that tells a window apart; None when it owns its whole table."""
    by = window_column(task.write)
    if by is None:
        return None
    field = next((f for f in frame.schema.fields if f.name.lower() == by.lower()), None)
    if field is None:
        raise ResultMisshapen(
            f"the result has no column {by!r}",
            facts={
                "expected": f"{by}, the column that tells the window apart",
                "found": ", ".join(frame.columns),
            },
            next_step="add the column to the task's result, or correct its name",
        )
    kind = ColumnKind.of(field.dataType.simpleString())
    if kind is None:
        raise ResultMisshapen(
            f"{by} is a {field.dataType.simpleString()}, which cannot be bounded by time",
            facts={"expected": "date, timestamp or ISO text"},
            next_step="cast it in the task",
        )
    return kind
