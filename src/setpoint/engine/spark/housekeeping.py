"""Finding and removing what nobody needs any more, in each kind of target's own way."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from setpoint.engine.spark.iceberg import literal
from setpoint.engine.spark.target import open_target
from setpoint.engine.spark.translation import SPARK_ERRORS, short
from setpoint.engine.swap import SwapFolder
from setpoint.errors import EngineFailed
from setpoint.model.table import TableName
from setpoint.model.table_folder import table_folder
from setpoint.model.target import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pyspark.sql import Row, SparkSession

    from setpoint.model.settings import ConnectionSettings, Settings

FIRST_INSTANT = "TIMESTAMP '1970-01-02 00:00:00'"
"""Before any snapshot: only those named are expired, none by its age alone."""
SHADOW = "__shadow_"
YOUNG = timedelta(days=1, minutes=1)


@dataclass(frozen=True, kw_only=True)
class KeptSnapshot:
    """A snapshot that a table still has."""

    id: str
    at: datetime
    run_id: str | None
    named: bool
    """A branch or tag is at it; the current one is at the branch main."""


@dataclass(frozen=True, kw_only=True)
class StagedRows:
    """Rows that an attempt wrote aside, in a folder."""

    run_id: str
    fence: int
    folder: Path


class Housekeeping:
    """Looks after the tables of one project."""

    def __init__(self, spark: SparkSession, settings: Settings) -> None:
        self._spark = spark
        self._settings = settings

    def exists(self, table: TableName) -> bool:
        """Whether the table is there."""
        return open_target(self._spark, self._settings, table).state() is not None

    def snapshots(self, table: TableName) -> list[KeptSnapshot]:
        """The snapshots of an Iceberg table, oldest first; none for other kinds."""
        if kind_of(self._settings, table.catalog) != "iceberg" or not self.exists(table):
            return []
        named = {
            row["snapshot_id"]
            for row in self._rows(f"SELECT snapshot_id FROM {table.sql}.refs")  # noqa: S608
        }
        found = self._rows(
            "SELECT snapshot_id, committed_at, summary['setpoint.run-id'] AS run_id "  # noqa: S608
            f"FROM {table.sql}.snapshots ORDER BY committed_at"
        )
        return [
            KeptSnapshot(
                id=str(row["snapshot_id"]),
                at=row["committed_at"].astimezone(),
                run_id=row["run_id"],
                named=row["snapshot_id"] in named,
            )
            for row in found
        ]

    def expire(self, table: TableName, ids: Sequence[str]) -> None:
        """Let an Iceberg table forget snapshots, and the files that only they have."""
        listed = ", ".join(str(int(each)) for each in ids)
        self._call(
            table,
            "expire_snapshots",
            f"older_than => {FIRST_INSTANT}, snapshot_ids => ARRAY({listed})",
        )

    def orphan_files(self, table: TableName, before: datetime) -> list[str]:
        """Files in the table's folder, older than a moment, that no snapshot has."""
        kind = kind_of(self._settings, table.catalog)
        if not self.exists(table):
            return []
        if kind == "iceberg":
            found = self._orphans(table, before, dry_run=True)
            return [str(row["orphan_file_location"]) for row in found]
        if kind == "delta":
            name = open_target(self._spark, self._settings, table).reference()
            return [str(row[0]) for row in self._rows(f"VACUUM {name} DRY RUN") if row[0]]
        return []

    def remove_orphan_files(self, table: TableName, before: datetime) -> None:
        """Remove the files that `orphan_files` lists."""
        if kind_of(self._settings, table.catalog) == "delta":
            self._rows(f"VACUUM {open_target(self._spark, self._settings, table).reference()}")
        else:
            self._orphans(table, before, dry_run=False)

    def shadows(self, table: TableName) -> list[TableName]:
        """The tables beside this one that backfills wrote into."""
        kind, name = kind_of(self._settings, table.catalog), table.parts[-1]
        if kind == "iceberg":
            if not self.exists(table):
                return []
            space = table.namespace.sql
            found = [row["tableName"] for row in self._rows(f"SHOW TABLES IN {space}")]
        elif folder := self._folder(table):
            found = [path.name for path in folder.parent.glob("*") if path.is_dir()]
        else:
            return []
        begin = name + SHADOW
        return [TableName((*table.parts[:-1], n)) for n in sorted(found) if n.startswith(begin)]

    def drop(self, table: TableName) -> None:
        """Drop a table and its files."""
        if kind_of(self._settings, table.catalog) == "iceberg":
            self._rows(f"DROP TABLE IF EXISTS {table.sql} PURGE")
        elif folder := self._folder(table):
            shutil.rmtree(folder, ignore_errors=True)

    def staged_rows(self, table: TableName) -> Iterator[StagedRows]:
        """What attempts on a Parquet table have written aside."""
        if kind_of(self._settings, table.catalog) != "parquet":
            return
        folder = self._folder(table)
        own = SwapFolder(folder).own if folder else None
        if own is None or (own / "intent.json").exists():
            return  # a swap is under way, or left half done: the next run carries it through
        for place in sorted([*own.glob("staging/*"), *own.glob("trash/*")]):
            run_id, _, fence = place.name.rpartition("-")
            if fence.isdigit():
                yield StagedRows(run_id=run_id, fence=int(fence), folder=place)

    def _folder(self, table: TableName) -> Path | None:
        catalog = self._settings.catalogs.get(table.catalog)
        warehouse = catalog.warehouse if catalog else None
        return table_folder(warehouse, table) if warehouse else None

    def _orphans(self, table: TableName, before: datetime, *, dry_run: bool) -> list[Row]:
        # A file of a day is left alone whatever was asked: a commit may be about to name it.
        earliest = min(before, datetime.now(timezone.utc) - YOUNG).astimezone(timezone.utc)
        moment = f"{earliest:%Y-%m-%d %H:%M:%S}Z"
        dry = str(dry_run).lower()
        options = f"older_than => TIMESTAMP '{moment}', dry_run => {dry}"
        return self._call(table, "remove_orphan_files", options)

    def _call(self, table: TableName, procedure: str, options: str) -> list[Row]:
        catalog = TableName(table.parts[:1]).sql
        name = literal(TableName(table.parts[1:]).sql)
        return self._rows(f"CALL {catalog}.system.{procedure}(table => {name}, {options})")

    def _rows(self, query: str) -> list[Row]:
        try:
            return self._spark.sql(query).collect()
        except SPARK_ERRORS as error:
            raise EngineFailed(
                f"housekeeping failed: {short(error)}", next_step="setpoint doctor"
            ) from None


def staging_tables(settings: ConnectionSettings) -> list[str]:
    """The staging tables of a Postgres connection."""
    from setpoint.engine.spark.postgres import staging
    from setpoint.engine.spark.postgres.connection import Login, connected

    with connected(Login.of(settings)) as connection:
        return staging.staging_tables(connection) or []


def drop_staging_table(settings: ConnectionSettings, name: str) -> None:
    """Drop one, unless somebody is at it just now."""
    from setpoint.engine.spark.postgres.connection import Login
    from setpoint.engine.spark.postgres.staging import drop

    drop(Login.of(settings), name)


def staging_prefix_of(table: TableName, scope: str) -> str:
    """How the staging tables of a table and scope begin."""
    from setpoint.engine.spark.postgres.source import postgres_name
    from setpoint.engine.spark.postgres.statements import staging_prefix

    return staging_prefix(postgres_name(table), scope)
