"""The ledger in a Postgres database: for teams, and for more machines than one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from setpoint.errors import LedgerError
from setpoint.ledger import postgres_schema, schema
from setpoint.ledger.instant import utc_now
from setpoint.ledger.memory import MemoryLedger
from setpoint.ledger.postgres_connection import PostgresConnections, explained
from setpoint.ledger.rows import Rows
from setpoint.ledger.sql import SqlLedger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from setpoint.ledger.protocol import Ledger
    from setpoint.ledger.rows import Connection


class PostgresLedger(SqlLedger):
    """Keeps the records in a schema of a database. Writers take turns, readers never wait."""

    def __init__(
        self, url: str, *, readonly: bool = False, now: Callable[[], datetime] = utc_now
    ) -> None:
        self._readonly = readonly
        self._now = now
        self._connections = PostgresConnections(url)
        self.place = str(self._connections.address)
        """Host, port and database."""
        with explained(self._connections.address):
            if not readonly:
                postgres_schema.migrate(self._connections.here(), self.place)

    def close(self) -> None:
        """Let go of the database."""
        self._connections.close()

    @contextmanager
    def _asking(self) -> Iterator[Connection]:
        with explained(self._connections.address), self._connections.asking() as session:
            yield session

    @contextmanager
    def _one_moment(self) -> Iterator[Connection]:
        with explained(self._connections.address), self._connections.one_moment() as session:
            yield session

    @contextmanager
    def _transaction(self) -> Iterator[Rows]:
        if self._readonly:
            raise LedgerError("The ledger was opened for reading only.")
        with explained(self._connections.address), self._connections.transaction() as session:
            yield Rows(session)

    def version(self) -> int:
        """How many scripts the database has seen; 0 when it has no ledger."""
        with self._asking() as connection:
            return postgres_schema.version(connection, self.place)


def open_postgres(url: str, *, create: bool) -> Ledger:
    """The ledger at this URL; without `create` one that is not there reads as empty."""
    ledger = PostgresLedger(url, readonly=not create)
    if create:
        return ledger
    found = ledger.version()
    if found == len(schema.SCRIPTS):
        return ledger
    ledger.close()
    if found == 0:
        return MemoryLedger(readonly=True)
    raise LedgerError(
        f"The ledger {ledger.place} is of version {found}, older than this Setpoint's"
        f" {len(schema.SCRIPTS)}; reading does not change it.",
        next_step="setpoint run brings it up to date.",
    )
