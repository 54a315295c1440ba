"""The content of a lake table that somebody else's command writes: read, kept, put back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setpoint.engine.spark.iceberg import IcebergTarget, literal
from setpoint.engine.spark.session import open_session
from setpoint.engine.spark.translation import SPARK_ERRORS, short
from setpoint.errors import EngineFailed, UsageError
from setpoint.model.table import TableName, quote

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame

    from setpoint.model.settings import Settings


class LakeContent:
    """Reads tables through the session of a project."""

    def __init__(self, settings: Settings, *, say: Callable[[str], None]) -> None:
        self._settings = settings
        self.spark, self.log = open_session(settings, say=say)

    def delta_rows(self, folder: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The rows of a Delta table in a folder."""
        return self._rows(lambda: self.spark.read.format("delta").load(str(folder)))

    def iceberg_rows(self, table: TableName) -> tuple[list[str], list[tuple[Any, ...]]] | None:
        """The rows of an Iceberg table; None when it does not exist."""
        if self._iceberg(table).state() is None:
            return None
        return self._rows(lambda: self.spark.table(table.sql))

    def snapshot(self, table: TableName) -> tuple[bool, str | None]:
        """Whether the table exists, and the snapshot that readers see."""
        state = self._iceberg(table).state()
        return (state is not None), (state.snapshot if state else None)

    def put_back(self, table: TableName, *, existed: bool, snapshot: str | None) -> None:
        """Let readers see an earlier snapshot again; drop what was not there."""
        now_exists, now = self.snapshot(table)
        if not existed and now_exists:
            self.spark.sql(f"DROP TABLE {table.sql}")
        elif existed and not now_exists:
            raise EngineFailed(
                f"{table} was dropped by the command, and its snapshots with it",
                next_step="restore it from a backup; verify on a copy of the table instead",
            )
        elif existed and snapshot is None and now is not None:
            self.spark.sql(f"DELETE FROM {table.sql}")  # noqa: S608 — quoted
        elif snapshot != now:
            inside = ".".join(quote(part) for part in table.parts[1:])
            self.spark.sql(
                f"CALL {quote(table.catalog)}.system.set_current_snapshot("
                f"{literal(inside)}, {snapshot})"
            )

    def _iceberg(self, table: TableName) -> IcebergTarget:
        found = self._settings.catalogs.get(table.catalog)
        if found is None or found.type != "iceberg":
            raise UsageError(
                f"--target {table}: {table.catalog} is no Iceberg catalog of setpoint.toml",
                next_step="name the catalog there; a Delta table is given as delta:FOLDER",
            )
        return IcebergTarget(self.spark, table)

    def _rows(self, read: Callable[[], DataFrame]) -> tuple[list[str], list[tuple[Any, ...]]]:
        try:
            frame = read()
            return list(frame.columns), [tuple(row) for row in frame.collect()]
        except SPARK_ERRORS as error:
            raise EngineFailed(short(error), next_step=f"read {self.log}") from None
