"""Postgres as a source: ranges read side by side, with the window pushed down."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from setpoint.engine.spark.postgres.connection import connected, run
from setpoint.engine.spark.postgres.statements import (
    COLUMNS,
    UNIQUE_KEYS,
    bounds_sql,
    identifier,
    key_ranges_sql,
    ranges_sql,
)
from setpoint.errors import SourceFault
from setpoint.model.scope import ColumnKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from setpoint.engine.spark.postgres.connection import Login
    from setpoint.engine.spark.postgres.moment import Moments
    from setpoint.model.table import TableName
    from setpoint.model.window import Window

FETCH_ROWS = "10000"
KINDS = {
    "date": ColumnKind.DATE,
    "timestamp with time zone": ColumnKind.TIMESTAMP,
    "timestamp without time zone": ColumnKind.TIMESTAMP_NTZ,
    "text": ColumnKind.STRING,
}
WHOLE_NUMBERS = ("smallint", "integer", "bigint")


def postgres_name(table: TableName) -> str:
    """The table with its schema, quoted for Postgres."""
    return ".".join(map(identifier, table.parts[1:]))


def table_columns(login: Login, table: TableName) -> dict[str, str]:
    """The columns of a table and their types; none when it does not exist."""
    with connected(login) as connection:
        return dict(run(connection, COLUMNS, postgres_name(table)).fetchall())


def source_view(
    spark: SparkSession,
    login: Login,
    table: TableName,
    *,
    event_time: str | None,
    window: Window | None,
    partitions: int,
    moments: Moments,
) -> tuple[str, bool]:
    """A temporary view of the table, and whether it is bounded to the window already.

    The view can be read until the moments are let go.
    """
    columns = table_columns(login, table)
    if not columns:
        raise SourceFault(
            f"the table {table} does not exist",
            next_step="check the name, or run the task that makes it first",
        )
    bounds, ranges = None, [""]
    column = _named(columns, event_time)
    kind = KINDS.get(columns[column].partition("(")[0]) if column else None
    if kind is None and column and columns[column].startswith("timestamp"):
        kind = _timestamp(columns[column])
    if column and kind and window:
        bounds = bounds_sql(column, kind, window)
        ranges = ranges_sql(column, kind, window, partitions)
    if len(ranges) == 1 and partitions > 1:
        ranges = _by_key(login, table, columns, bounds, partitions)
    name = _view_name(table, bounds, event_time)
    joining = {"sessionInitStatement": moments.joining(login)}
    _reader(spark, login, table, ranges, joining).createOrReplaceTempView(name)
    return name, bounds is not None


def whole_view(spark: SparkSession, login: Login, table: TableName) -> str:
    """A temporary view of the whole table, read by one statement: at one moment without more."""
    name = _view_name(table, None, None)
    _reader(spark, login, table, ["TRUE"], {}).createOrReplaceTempView(name)
    return name


def _reader(
    spark: SparkSession,
    login: Login,
    table: TableName,
    ranges: list[str],
    options: Mapping[str, str],
) -> DataFrame:
    """The rows of the ranges, a partition each."""
    properties = {
        **login.jdbc_properties,
        **options,
        # More than none, so that the rows come in a transaction, which the moment needs too.
        "fetchsize": FETCH_ROWS,
        # A timestamp without a zone must not become an instant on the way.
        "preferTimestampNTZ": "true",
    }
    return spark.read.jdbc(
        login.jdbc_url, postgres_name(table), predicates=ranges, properties=properties
    )


def _by_key(
    login: Login, table: TableName, columns: dict[str, str], bounds: str | None, partitions: int
) -> list[str]:
    """Ranges of a whole-number key within the bounds; one range when there is no such key."""
    whole = bounds or "TRUE"
    with connected(login) as connection:
        keys = [key for key, _ in run(connection, UNIQUE_KEYS, postgres_name(table)).fetchall()]
        key = next((k[0] for k in keys if len(k) == 1 and columns[k[0]] in WHOLE_NUMBERS), None)
        if key is None:
            return [whole]
        name = identifier(key)
        query = f"SELECT min({name}), max({name}) FROM {postgres_name(table)} WHERE {whole}"  # noqa: S608
        found = run(connection, query).fetchone()
    if found is None or found[0] is None:
        return [whole]
    ranges = key_ranges_sql(key, found[0], found[1], partitions)
    return [f"({whole}) AND ({part})" for part in ranges] if bounds else ranges


def _named(columns: dict[str, str], name: str | None) -> str | None:
    """The column by its name in the table; Spark's names have no case."""
    return next((c for c in columns if name is not None and c.lower() == name.lower()), None)


def _timestamp(kind: str) -> ColumnKind:
    """The kind of a timestamp with a precision: `timestamp(3) with time zone`."""
    return ColumnKind.TIMESTAMP if kind.endswith("with time zone") else ColumnKind.TIMESTAMP_NTZ


def _view_name(table: TableName, bounds: str | None, event_time: str | None) -> str:
    text = f"{table} {event_time} {bounds}"
    return f"setpoint_source_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
