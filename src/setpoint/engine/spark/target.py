"""What every target does. One behaviour suite runs against each implementation."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

from setpoint.engine.commit_mark import scope_name
from setpoint.errors import EngineFailed, ResultMisshapen
from setpoint.model.scope import Kinds
from setpoint.model.table import quote
from setpoint.model.table_folder import table_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from setpoint.engine.commit_mark import CommitMark
    from setpoint.engine.protocol import Outcome, Token
    from setpoint.engine.spark.postgres.moment import Moments
    from setpoint.model.settings import Settings
    from setpoint.model.table import TableName
    from setpoint.model.task import BoundSource, Task
    from setpoint.model.window import Window


@dataclass(frozen=True, kw_only=True)
class TableState:
    """A table as it stands: its columns with their types, and the snapshot that readers see."""

    columns: Mapping[str, str]
    snapshot: str | None
    unique_keys: tuple[tuple[str, ...], ...] = ()
    """The keys that the table itself lets in once, whoever writes."""

    def keeps_unique(self, key: Sequence[str]) -> bool:
        """Whether the table refuses two rows of the key: one write cannot bring them in."""
        given = {name.lower() for name in key}
        return any({name.lower() for name in known} <= given for known in self.unique_keys)


@dataclass(frozen=True, kw_only=True)
class Writing:
    """One write: the checked rows, the scope they are for, and the token of the commit."""

    task: Task
    frame: DataFrame
    scope: str | None
    """The filter of the rows that the run owns; None for the whole table."""
    token: Token
    state: TableState
    """The table as the run found it; what changed in the scope since then is a conflict."""
    window: Window | None = None
    """The window that the scope is the filter of."""
    batched: bool = False
    """Whether it is the union of several windows."""
    cheap: bool = False
    """Whether the frame may be computed twice rather than kept."""
    kinds: Kinds = field(default_factory=Kinds)
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The snapshot of each source table that is read."""

    @property
    def facts(self) -> dict[str, str]:
        """What the commit says about itself, beside run id and fence."""
        return {
            "task": self.task.name,
            "scope": scope_name(self.window),
            "base": self.state.snapshot or "",
            "inputs": json.dumps(dict(self.inputs)),
        }


class Target(Protocol):
    """A table that a task owns."""

    def reference(self, snapshot: str | None = None) -> str:
        """The table in a FROM clause of Spark SQL, at a snapshot where one is given."""
        ...

    def state(self) -> TableState | None:
        """The table as it stands; None when it does not exist."""
        ...

    def exists(self) -> bool:
        """Whether there is such a table, by whatever tells it fastest."""
        ...

    def create(self, frame: DataFrame, task: Task) -> None:
        """Create the table from the columns of a result; quietly if another process was first."""
        ...

    def write(self, writing: Writing) -> None:
        """Make the scope match the frame, all at once, with the token inside the commit."""
        ...

    def commit(self, run_id: str) -> Outcome | None:
        """The newest commit of a run in the history that readers see."""
        ...

    def drop(self) -> None:
        """Remove the table and its files, if it is there."""
        ...

    def strangers_since(self, snapshot: str | None) -> bool:
        """Whether others than Setpoint wrote rows after a commit, where the table can tell."""
        ...

    def marks(self) -> list[CommitMark]:
        """Setpoint's commits in the history that readers see, where a late one can be among them.

        None where the fence is checked inside the commit itself: there nothing comes late.
        """
        ...

    def highest_fence(self) -> int:
        """The highest fence among the commits that the table remembers; 0 for none."""
        ...


def open_target(spark: SparkSession, settings: Settings, table: TableName) -> Target:
    """The target of this name, by the kind of its catalog or connection."""
    connection = settings.connections.get(table.catalog)
    if connection is not None:
        from setpoint.engine.spark.postgres.target import PostgresTarget

        return PostgresTarget(spark, connection, table)
    catalog = settings.catalogs[table.catalog]
    if catalog.type == "iceberg":
        from setpoint.engine.iceberg_metadata import current_metadata
        from setpoint.engine.spark.iceberg import IcebergTarget

        if settings.spark.remote:  # whose files may be those of another machine
            return IcebergTarget(spark, table)
        return IcebergTarget(spark, table, partial(current_metadata, settings, table))
    if catalog.type == "delta" and catalog.warehouse:
        from setpoint.engine.spark.delta import DeltaTarget

        return DeltaTarget(spark, table_folder(catalog.warehouse, table))
    if catalog.type == "parquet" and catalog.warehouse:
        from setpoint.engine.spark.parquet import ParquetTarget

        return ParquetTarget(spark, table, table_folder(catalog.warehouse, table))
    raise EngineFailed(f"no target for catalogs of type {catalog.type!r}")


def open_source(
    spark: SparkSession,
    settings: Settings,
    source: BoundSource,
    window: Window | None,
    moments: Moments,
) -> tuple[str, bool]:
    """The source in a FROM clause, and whether it is bounded to the window already."""
    connection = settings.connections.get(source.table.catalog)
    if connection is None:
        return open_target(spark, settings, source.table).reference(), False
    from setpoint.engine.spark.postgres.connection import Login
    from setpoint.engine.spark.postgres.source import source_view

    return source_view(
        spark,
        Login.of(connection),
        source.table,
        event_time=source.event_time,
        window=window,
        partitions=connection.read_partitions,
        moments=moments,
    )


def tables_below(warehouse: Path, catalog: str) -> list[str]:
    """The tables in a warehouse of folders, fully named."""
    marks = sorted([*warehouse.rglob("_delta_log"), *warehouse.rglob("_setpoint/table.json")])
    folders = [mark.parent if mark.is_dir() else mark.parent.parent for mark in marks]
    named = [(catalog, *folder.relative_to(warehouse).parts) for folder in folders]
    return [".".join(map(quote, parts)) for parts in named]


def check_columns(table: TableName, frame: DataFrame, state: TableState) -> None:
    """Refuse a result whose columns are not the table's; an existing table is never altered."""
    have = {name.lower(): name for name in state.columns}
    give = {field.name.lower(): field for field in frame.schema.fields}
    gone = [have[name] for name in have if name not in give]
    new = [give[name] for name in give if name not in have]
    if not gone and not new:
        return
    facts = {}
    if gone:
        facts["missing"] = ", ".join(gone)
    if new:
        facts["not in the table"] = ", ".join(
            f"{field.name} {field.dataType.simpleString()}" for field in new
        )
    added = ", ".join(f"{quote(f.name)} {f.dataType.simpleString()}" for f in new)
    raise ResultMisshapen(
        "the result's columns are not the table's; nothing was written",
        facts=facts,
        next_step=f"ALTER TABLE {table.sql} ADD COLUMN {added}"
        if new and not gone
        else "return every column of the table, or change the table",
    )
