"""What a ledger does, apart from where it keeps its records. Every ledger passes one test suite.

Order is decided by fences, never by clocks: a fence is a number that the ledger gives to each
attempt and that only grows. Who calls with an older fence than the recorded one is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from types import TracebackType

    from typing_extensions import Self

    from setpoint.ledger.lease import Grant, Holder, Lease
    from setpoint.ledger.outbox import Outbox
    from setpoint.ledger.record import (
        Attempt,
        Detail,
        Outcome,
        Run,
        RunState,
        Started,
        TaskSummary,
    )

DEFAULT_LIMIT = 100


class LedgerReader(Protocol):
    """Answers what ran. Reading creates nothing, changes nothing and waits for no writer."""

    def latest(
        self,
        task: str | None = None,
        *,
        state: RunState | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> list[Run]:
        """The latest run of each task and window: whole tables first, then newest window first.

        With `start` or `end`, only windows that overlap `[start, end)`.
        """
        ...

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
        ...

    def run(self, run_id: str) -> Run:
        """The run of this id, or of the only id that begins so; else a `UsageError`."""
        ...

    def attempts(self, run_id: str) -> list[Attempt]:
        """The tries of a run, in order; none for a run that is not known."""
        ...

    def scope(
        self, task: str, window_start: datetime | None, window_end: datetime | None
    ) -> Run | None:
        """The latest run of exactly this task and window."""
        ...

    def summary(self) -> list[TaskSummary]:
        """Where each task stands, by name."""
        ...

    @property
    def outbox(self) -> Outbox:
        """What is to be sent to the outside world, and how far it got."""
        ...

    def leases(self, task: str | None = None) -> list[Lease]:
        """The leases that are held, the oldest first."""
        ...

    def close(self) -> None:
        """Let go of the ledger's file or server."""
        ...

    def __enter__(self) -> Self:
        """Close at the end of a `with`."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        ...


class LedgerWriter(Protocol):
    """Records what runs. Each call is one transaction: all of it is kept, or nothing."""

    def begin(
        self,
        task: str,
        window_start: datetime | None,
        window_end: datetime | None,
        *,
        target: str,
        fingerprint: str,
        pid: int,
        host: str,
        run_id: str | None = None,
        lease: Lease | None = None,
    ) -> Started:
        """Take the next fence for a task and window, and open an attempt.

        With a `lease`, here and below, nothing is recorded once another process has taken it over.

        A latest run that is still `running` is taken over. With the same fingerprint it goes on
        as the same run: its open attempt becomes `lost`, and `Started.predecessors` holds every
        earlier attempt, whose commit the caller looks for in the target before it writes. With
        another fingerprint it is marked failed, and a new run begins. After a run that ended, a
        new run begins too; `run_id` names that one.
        """
        ...

    def retry(
        self,
        run_id: str,
        fence: int,
        *,
        error: str,
        error_kind: str,
        seconds: float | None = None,
        pid: int | None = None,
        host: str | None = None,
        lease: Lease | None = None,
    ) -> Started:
        """Mark the attempt failed and open the run's next one, with a new fence."""
        ...

    def succeed(
        self,
        run_id: str,
        fence: int,
        *,
        rows: int | None,
        snapshot: str | None = None,
        checksum: str | None = None,
        seconds: float | None = None,
        detail: Detail | None = None,
        adopted: bool = False,
        lease: Lease | None = None,
    ) -> Run:
        """Mark the run succeeded. Said twice with one fence, the second time changes nothing.

        `adopted` says that an earlier attempt's commit was found and nothing was written.
        `seconds` is this attempt's time; the run's is that of all its attempts.
        """
        ...

    def fail(
        self,
        run_id: str,
        fence: int,
        *,
        error: str,
        error_kind: str,
        seconds: float | None = None,
        detail: Detail | None = None,
    ) -> Run:
        """Mark the run failed. Said twice with one fence, the second time changes nothing."""
        ...

    def set_checksum(self, run_id: str, checksum: str) -> Run:
        """Add the content checksum to a run that succeeded."""
        ...

    def record_many(
        self,
        outcomes: Iterable[Outcome],
        *,
        pid: int,
        host: str,
        lease: Lease | None = None,
    ) -> list[Run]:
        """Record windows that ended together: a run of one attempt each, a fence each, in order.

        A run still open on one of these windows is marked failed: its fence is older.
        """
        ...

    def take(
        self,
        task: str,
        window_start: datetime | None,
        window_end: datetime | None,
        *,
        target: str,
        holder: Holder,
        seconds: float,
        over: Sequence[Lease] = (),
        at_least: int = 0,
    ) -> Grant:
        """Take the lease on a task's window, unless another process has one that overlaps it.

        Leases of one task or of one target exclude each other where their windows overlap; a
        whole table overlaps every window. Those in `over` are taken over, if their beat is still
        the one given there. `at_least` is a fence that the target has seen: all later ones are
        higher, also in a ledger that has forgotten it.
        """
        ...

    def renew(self, lease: Lease) -> Lease:
        """Raise the lease's beat; `LeaseLost` when another process has taken it over."""
        ...

    def release(self, lease: Lease) -> None:
        """Give the lease back; nothing happens when it is no longer held."""
        ...


class Ledger(LedgerReader, LedgerWriter, Protocol):
    """The record of runs and leases, to read and to write."""
