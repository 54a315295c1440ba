"""Sources, bounded to the window before the transform sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from setpoint.engine.protocol import LateRows
from setpoint.engine.spark.translation import SPARK_ERRORS
from setpoint.errors import ResultMisshapen, RunError, SourceFault
from setpoint.model.merging import DELETED, live_sql
from setpoint.model.scope import ColumnKind, before_sql, bounds_sql, owned_scope, source_bounds
from setpoint.model.transform import source_sql
from setpoint.model.write import window_column

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

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

SAMPLES = 5


def table_key(source: BoundSource) -> str:
    """The name under which the snapshot of a source's table is recorded."""
    return ".".join(source.table.parts)


def source_tables(
    task: Task,
    reference: Callable[[BoundSource, str | None], str],
    as_of: Mapping[str, str] | None,
) -> dict[str, str]:
    """How each source is named in a query: as it stands, or at the snapshots of `as_of`."""
    if as_of is None:
        return {s.name: reference(s, None) for s in task.sources}
    tables = {}
    for source in task.sources:
        snapshot = as_of.get(table_key(source))
        if snapshot is None:
            raise SourceFault(
                f"source {source.name}: that run recorded no snapshot of {source.table}, so what "
                "it read cannot be read again",
                facts={"recorded": ", ".join(as_of) or "nothing"},
                next_step="only tables with snapshots (Iceberg, Delta) that had rows can be "
                "replayed; run without --as-of-run to read what is there now",
            )
        tables[source.name] = reference(source, snapshot)
    return tables


def late_rows(
    spark: SparkSession,
    source: BoundSource,
    table: str,
    schema: StructType,
    window: Window,
) -> LateRows | None:
    """The rows that arrived in the window and whose event lies before it."""
    if source.event_time is None or source.arrival_time is None:
        return None
    event, arrival = (
        _kind_of(schema, source, name) for name in (source.event_time, source.arrival_time)
    )
    where = (
        f"{bounds_sql(source.arrival_time, arrival, window)} AND "
        f"{before_sql(source.event_time, event, window)}"
    )
    late = spark.sql(source_sql(table, where))
    found = late.limit(SAMPLES).collect()
    rows = len(found) if len(found) < SAMPLES else late.count()
    samples = (
        ", ".join(f"{name}={value}" for name, value in row.asDict().items()) for row in found
    )
    return LateRows(rows=rows, samples=tuple(samples))


def late_warnings(late: Mapping[str, LateRows]) -> list[str]:
    """A line for each source that had late rows."""
    return [
        f"{name}: {found.rows:,} rows came late and were left out"
        for name, found in late.items()
        if found.rows
    ]


def source_schemas(
    spark: SparkSession, task: Task, tables: Mapping[str, str]
) -> dict[str, StructType]:
    """The columns of each source."""
    return {s.name: _schema(spark, s, tables[s.name]) for s in task.sources}


def source_kinds(task: Task, schemas: Mapping[str, StructType]) -> dict[str, ColumnKind]:
    """The kind of each source's event-time column; a static source has none."""
    kinds = {s.name: _kind(schemas[s.name], s) for s in task.sources}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def live_tables(tables: Mapping[str, str], schemas: Mapping[str, StructType]) -> dict[str, str]:
    """The sources without the tombstones that a merge has left in them."""
    return {
        name: live_sql(table) if DELETED in schemas[name].names else table
        for name, table in tables.items()
    }


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
    return _kind_of(schema, source, source.event_time) if source.event_time else None


def _kind_of(schema: StructType, source: BoundSource, column: str) -> ColumnKind:
    role = "event_time" if column == source.event_time else "arrival_time"
    columns = {field.name.lower(): field for field in schema.fields}
    field = columns.get(column.lower())
    if field is None:
        raise SourceFault(
            f"source {source.name} has no column {column!r}",
            facts={"source": str(source.table), "columns": ", ".join(schema.names)},
            next_step=f"correct {role} in the task",
        )
    kind = ColumnKind.of(field.dataType.simpleString())
    if kind is None:
        raise SourceFault(
            f"source {source.name}: {field.name} is a {field.dataType.simpleString()}, "
            "which cannot be bounded by time",
            facts={"source": str(source.table), "expected": "timestamp, date or ISO text"},
            next_step=f"use a time column as {role}",
        )
    return kind


def _schema(spark: SparkSession, source: BoundSource, table: str) -> StructType:
    try:
        return spark.sql(source_sql(table, None)).schema
    except SPARK_ERRORS as error:
        if "Cannot find snapshot" in str(error):
            raise SourceFault(
                f"source {source.name}: the snapshot that was read has expired from {source.table}",
                facts={"table": table},
                next_step="run without --as-of-run to read what is there now; keep snapshots "
                "longer to replay later runs",
            ) from None
        if not isinstance(error, AnalysisException):
            raise
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


def check_kind(task: Task, window: Window | None, columns: Mapping[str, str]) -> None:
    """Refuse windows shorter than a day over a table that keeps dates, whatever the result has.

    Spark would cast the result's timestamps on the way in, out of their hour.
    """
    by = window_column(task.write)
    if by is not None:
        held = next((text for name, text in columns.items() if name.lower() == by.lower()), "")
        owned_scope(task, window, ColumnKind.of(held))
