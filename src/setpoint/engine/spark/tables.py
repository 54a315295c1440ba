"""What Spark can tell of a project's tables, without running a task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from setpoint.engine.spark.target import tables_below
from setpoint.engine.spark.translation import SPARK_ERRORS, short
from setpoint.errors import EngineFailed, UsageError
from setpoint.model.table import TableName, quote
from setpoint.model.target import FOLDERS
from setpoint.model.transform import source_sql

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from setpoint.engine.spark.target import Target
    from setpoint.model.grain_diagnosis import PartitionWrite
    from setpoint.model.settings import Settings


class SparkTables(ABC):
    """The part of the Spark engine that `doctor` and `history --grain` ask."""

    _settings: Settings

    @property
    @abstractmethod
    def spark(self) -> SparkSession:
        """The session, started when it is first asked for."""

    @property
    @abstractmethod
    def log(self) -> Path:
        """The file that Spark logs to."""

    @abstractmethod
    def _target(self, table: TableName) -> Target: ...

    def version(self) -> str:
        """Spark's version, as the running session tells it."""
        return str(self.spark.version)

    def tables(self, catalog: str) -> list[str]:
        """The tables of a catalog, fully named."""
        settings = self._settings.catalogs[catalog]
        if settings.type in FOLDERS and settings.warehouse:
            return tables_below(settings.warehouse, catalog)
        try:
            shown = self.spark.sql(f"SHOW NAMESPACES IN {quote(catalog)}").collect()
            found = []
            for row in shown:
                space = f"{quote(catalog)}.{row['namespace']}"
                listed = self.spark.sql(f"SHOW TABLES IN {space}").collect()
                found += [f"{space}.{quote(entry['tableName'])}" for entry in listed]
        except SPARK_ERRORS as error:
            raise EngineFailed(
                f"catalog {catalog}: {short(error)}", next_step=f"read {self.log}"
            ) from None
        return found

    def probe(self, table: str) -> None:
        """Read a row of a table, if it has one: its metadata and files are where they should be."""
        try:
            reference = self._target(TableName.parse(table)).reference()
            self.spark.sql(source_sql(reference, None)).limit(1).collect()
        except SPARK_ERRORS as error:
            raise EngineFailed(
                f"{table} cannot be read: {short(error)}",
                next_step="restore the missing files from a backup, or drop the table and set its "
                "windows again",
            ) from None

    def partition_writes(self, table: TableName) -> list[PartitionWrite]:
        """Which partitions of a table each commit wrote."""
        from setpoint.engine.spark.iceberg import IcebergTarget

        target = self._target(table)
        if not isinstance(target, IcebergTarget):
            raise UsageError(
                f"the history of {table} does not say which partitions were written",
                next_step="--grain reads the snapshots of Iceberg tables",
            )
        if target.state() is None:
            raise UsageError(f"the table {table} does not exist", next_step="check its name")
        try:
            return target.partition_writes()
        except SPARK_ERRORS as error:
            raise EngineFailed(f"{table}: {short(error)}", next_step=f"read {self.log}") from None
