"""A SQLite file, or one table of it."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.errors import UsageError
from setpoint.verifying.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from setpoint.verifying.rows import Tables

PATIENCE = 30


class SqliteDestination:
    """The tables of one file; kept by SQLite's own backup, put back the same way."""

    def __init__(self, path: Path, table: str = "") -> None:
        self.path = path
        self.table = table
        self.name = f"{path}#{table}" if table else str(path)
        self._kept: list[Path] = []

    def read(self) -> Tables:
        """The rows of every table, or of the named one."""
        if not self.path.exists():
            return {}
        with closing(self._connect()) as connection:
            connection.execute("BEGIN")  # one moment for all tables
            tables = [name for (name,) in connection.execute(_TABLES)]
            if self.table:
                tables = [name for name in tables if name == self.table]
            return {name: _rows(connection, name) for name in tables}

    def glance(self) -> object:
        """The rows as they are: small files are read in no time."""
        try:
            return {name: rows.counted for name, rows in self.read().items() if rows.counted}
        except sqlite3.DatabaseError:
            return None

    def between(self) -> AbstractContextManager[Sequence[object]]:
        """Nothing is told of single steps here; who watches sees them."""
        return nullcontext(())

    def keep(self) -> object:
        """A copy of the file, made by SQLite itself."""
        copy = Path(tempfile.mkdtemp(prefix="setpoint-verify-")) / "kept.db"
        self._kept.append(copy)
        if self.path.exists():
            with closing(self._connect()) as here, closing(sqlite3.connect(copy)) as there:
                here.backup(there)
        return copy

    def restore(self, kept: object) -> None:
        """Put the copy back; a file that was not there is removed."""
        copy = Path(str(kept))
        if not copy.exists():
            for suffix in ("", "-wal", "-shm", "-journal"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
            return
        with closing(sqlite3.connect(copy)) as here, closing(self._connect()) as there:
            here.backup(there)

    def close(self) -> None:
        """Remove the copies."""
        for copy in self._kept:
            shutil.rmtree(copy.parent, ignore_errors=True)

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(self.path, timeout=PATIENCE)
            with suppress(sqlite3.OperationalError):
                connection.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.DatabaseError as error:
            raise UsageError(
                f"--target {self.name} cannot be read: {error}", next_step="give a SQLite file"
            ) from None
        return connection


_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


def _rows(connection: sqlite3.Connection, table: str) -> Rows:
    quoted = '"' + table.replace('"', '""') + '"'
    found = connection.execute(f"SELECT * FROM {quoted}")  # noqa: S608 — quoted
    return Rows.of([each[0] for each in found.description], found)
