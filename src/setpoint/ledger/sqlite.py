"""The ledger in a SQLite file: the default, for one machine and as many processes as it has."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from setpoint.errors import LedgerError
from setpoint.ledger.connection import Connections, explained
from setpoint.ledger.instant import utc_now
from setpoint.ledger.rows import Rows
from setpoint.ledger.sql import SqlLedger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from setpoint.ledger.rows import Connection


class SqliteLedger(SqlLedger):
    """Keeps the records in one file, in WAL mode: readers never wait, writers take turns."""

    def __init__(
        self, path: Path, *, readonly: bool = False, now: Callable[[], datetime] = utc_now
    ) -> None:
        self._readonly = readonly
        self._now = now
        self._connections = Connections(path, readonly=readonly)
        # A file that cannot serve is told of here, not in the middle of a run.
        with explained(path):
            self._connections.here()

    @property
    def path(self) -> Path:
        """The ledger's file."""
        return self._connections.path

    def close(self) -> None:
        """Let go of the ledger's file."""
        with explained(self.path):
            self._connections.close()

    @contextmanager
    def _asking(self) -> Iterator[Connection]:
        with explained(self.path):
            yield self._connections.here()

    @contextmanager
    def _one_moment(self) -> Iterator[Connection]:
        with explained(self.path):
            connection = self._connections.here()
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")

    @contextmanager
    def _transaction(self) -> Iterator[Rows]:
        if self._readonly:
            raise LedgerError("The ledger was opened for reading only.")
        with explained(self.path), self._connections.transaction() as connection:
            yield Rows(connection)
