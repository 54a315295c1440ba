"""A ledger in a database: what is asked of it, apart from how it is reached."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING

from setpoint.ledger.outbox import Outbox
from setpoint.ledger.outbox_tables import TableDeliveries
from setpoint.ledger.protocol import DEFAULT_LIMIT
from setpoint.ledger.record import Scope
from setpoint.ledger.rows import (
    NEWEST_FENCE,
    NEWEST_WINDOW,
    SELECT_RUN,
    Rows,
    conditions,
    run_of,
    summaries,
)
from setpoint.ledger.search import SHOWN, only_match
from setpoint.ledger.writer import StoredWriter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from datetime import datetime
    from types import TracebackType

    from typing_extensions import Self

    from setpoint.ledger.lease import Lease
    from setpoint.ledger.record import Attempt, Run, RunState, TaskSummary
    from setpoint.ledger.rows import Connection

_AFTER_ANY_TEXT = "\U0010ffff"


class SqlLedger(StoredWriter):
    """Keeps the records in tables; which database it is, a subclass knows."""

    @abstractmethod
    def _asking(self) -> AbstractContextManager[Connection]:
        """A connection on which each question is answered as of its own moment."""

    @abstractmethod
    def _one_moment(self) -> AbstractContextManager[Connection]:
        """A connection on which several questions are answered as of one moment."""

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Rows]:
        """A transaction that excludes other writers, and keeps all or nothing."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    @property
    def outbox(self) -> Outbox:
        """What is to be sent to the outside world."""
        return Outbox(self._sending, self._looking, now=self._now)

    @contextmanager
    def _sending(self) -> Iterator[TableDeliveries]:
        with self._transaction() as rows:
            yield TableDeliveries(rows.connection)

    @contextmanager
    def _looking(self) -> Iterator[TableDeliveries]:
        with self._asking() as connection:
            yield TableDeliveries(connection)

    def latest(
        self,
        task: str | None = None,
        *,
        state: RunState | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> list[Run]:
        """The latest run of each task and window: whole tables first, then newest window first."""
        where, values = conditions(task, state, start, end)
        return self._runs(["latest = 1", *where], values, NEWEST_WINDOW, limit)

    def runs(
        self,
        task: str | None = None,
        *,
        state: RunState | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> list[Run]:
        """Every run, the one with the highest fence first."""
        where, values = conditions(task, state, start, end)
        return self._runs(where, values, NEWEST_FENCE, limit)

    def run(self, run_id: str) -> Run:
        """The run of this id, or of the only id that begins so."""
        exact = self._runs(["run_id = ?"], [run_id], "", 1)
        if exact:
            return exact[0]
        begun = self._runs(
            ["run_id >= ?", "run_id < ?"],
            [run_id, run_id + _AFTER_ANY_TEXT],
            "ORDER BY run_id",
            SHOWN + 1,
        )
        return only_match(run_id, begun)

    def attempts(self, run_id: str) -> list[Attempt]:
        """The tries of a run, in order; none for a run that is not known."""
        with self._asking() as connection:
            return Rows(connection).attempts_of(run_id)

    def scope(
        self, task: str, window_start: datetime | None, window_end: datetime | None
    ) -> Run | None:
        """The latest run of exactly this task and window."""
        scope = Scope(task=task, window_start=window_start, window_end=window_end)
        with self._asking() as connection:
            return Rows(connection).latest_of(scope)

    def summary(self) -> list[TaskSummary]:
        """Where each task stands, by name."""
        with self._one_moment() as connection:
            return summaries(connection)

    def leases(self, task: str | None = None) -> list[Lease]:
        """The leases that are held, the oldest first."""
        with self._asking() as connection:
            return [each for each in Rows(connection).leases() if task in (None, each.task)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _runs(
        self, where: list[str], values: list[object], order: str, limit: int | None
    ) -> list[Run]:
        chosen = f" WHERE {' AND '.join(where)}" if where else ""
        most = "" if limit is None else " LIMIT ?"
        query = f"{SELECT_RUN}{chosen} {order}{most}"
        with self._asking() as connection:
            found = connection.execute(query, values if limit is None else [*values, limit])
            return [run_of(row) for row in found]
