"""The kinds of target that the behaviour suite runs against.

To add one, append a `TargetKind` to `KINDS`. If it needs a server, name the fixture that starts it:
the fixture's value is more text for setpoint.toml.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.engine.spark.postgres.connection import Login, connected
from setpoint.engine.spark.postgres.source import postgres_name
from setpoint.engine.spark.target import open_target
from setpoint.model.table import TableName

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame
    from tests.spark.conftest import Bench

    from setpoint.engine.spark.target import Target


@dataclass(frozen=True, kw_only=True)
class TargetKind:
    """One kind of target: how a project gets it, and in what it differs from the others."""

    name: str
    catalog: str
    """The first part of its tables' names."""
    make: Callable[[Bench, str, DataFrame, str | None], None]
    """Make a table by other means than Setpoint, from a frame, partitioned by a column or not."""
    toml: str = ""
    fixture: str | None = None
    sets_mixed_files: bool = False
    """A window can be set alone in a table whose files mix windows."""
    fences_empty: bool = True
    """An older attempt is refused even when it has no row to write over no row."""
    tells_strangers: bool = False
    """The table's history shows the commits of other programs."""
    odd_table_names: bool = False
    """A table's name may hold quotes and semicolons; otherwise it is refused at load."""
    by_window: str = "overwrite"
    """The pattern that sets the rows of a window."""
    day_column: str = "date"
    """The type of the column that windows are overwritten by."""


def target_of(bench: Bench, name: str) -> Target:
    """The target of this name in a bench's project."""
    return open_target(bench.spark, bench.engine._settings, TableName.parse(name))


def folder_of(bench: Bench, name: str) -> str:
    """Where a table without a catalog of its own lies."""
    table = TableName.parse(name)
    return str((bench.root / table.catalog).joinpath(*table.parts[1:]))


def _iceberg(bench: Bench, name: str, frame: DataFrame, by: str | None) -> None:
    bench.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {TableName.parse(name).namespace.sql}")
    writer = frame.writeTo(name)
    (writer.partitionedBy(frame[by]) if by else writer).create()


def _delta(bench: Bench, name: str, frame: DataFrame, by: str | None) -> None:
    writer = frame.write.format("delta")
    (writer.partitionBy(by) if by else writer).save(folder_of(bench, name))


def _parquet(bench: Bench, name: str, frame: DataFrame, by: str | None) -> None:
    (frame.write.partitionBy(by) if by else frame.write).parquet(folder_of(bench, name))


def _postgres(bench: Bench, name: str, frame: DataFrame, by: str | None) -> None:  # noqa: ARG001
    settings = bench.engine._settings.connections["mart"]
    login = Login.of(settings)
    with connected(login) as connection:
        connection.execute('CREATE SCHEMA IF NOT EXISTS "shop"')
    table = postgres_name(TableName.parse(name))
    frame.write.jdbc(login.jdbc_url, table, properties=login.jdbc_properties)


KINDS = [
    TargetKind(
        name="iceberg",
        catalog="lake",
        make=_iceberg,
        fences_empty=False,
        tells_strangers=True,
        odd_table_names=True,
    ),
    TargetKind(
        name="delta",
        catalog="dl",
        toml='[catalogs.dl]\ntype = "delta"\nwarehouse = "dl"\n',
        make=_delta,
        sets_mixed_files=True,
        tells_strangers=True,
    ),
    TargetKind(
        name="parquet",
        catalog="hive",
        toml='[catalogs.hive]\ntype = "parquet"\nwarehouse = "hive"\n',
        make=_parquet,
    ),
    TargetKind(
        name="postgres",
        catalog="mart",
        fixture="mart_connection",
        make=_postgres,
        sets_mixed_files=True,
        odd_table_names=True,
        by_window="replace",
    ),
]
