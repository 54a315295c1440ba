"""Sources, bounded to the window before the transform sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from setpoint.errors import RunError, SourceFault
from setpoint.model.scope import ColumnKind, bounds_sql
from setpoint.model.transform import source_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql import types as T

    from setpoint.model.task import BoundSource, Task
    from setpoint.model.window import Window


def bounded_sources(spark: SparkSession, task: Task, window: Window | None) -> dict[str, str]:
    """For each source the query that reads it, bounded by its event time."""
    return {
        source.name: source_sql(source.table.sql, source_bounds(spark, source, window))
        for source in task.sources
    }


def source_bounds(spark: SparkSession, source: BoundSource, window: Window | None) -> str | None:
    """The filter of one source, in the literals of its event-time column's type."""
    schema = _schema(spark, source)
    if source.event_time is None or window is None:
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
    try:
        return bounds_sql(field.name, kind, window)
    except RunError as error:
        raise SourceFault(
            f"source {source.name}: {error.message}", facts=error.facts, next_step=error.next_step
        ) from None


def _schema(spark: SparkSession, source: BoundSource) -> T.StructType:
    try:
        return spark.table(source.table.sql).schema
    except AnalysisException as error:
        if not (error.getCondition() or "").startswith(("TABLE_OR_VIEW", "SCHEMA_NOT_FOUND")):
            raise
        raise SourceFault(
            f"source {source.name}: the table {source.table} does not exist",
            next_step="check the name, or run the task that makes it first",
        ) from None
