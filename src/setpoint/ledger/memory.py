"""A ledger that lives as long as its process: for tests, and for trying things out."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

from setpoint.errors import LedgerError
from setpoint.ledger.instant import in_utc, utc_now
from setpoint.ledger.outbox import Outbox
from setpoint.ledger.outbox_memory import MemoryDeliveries
from setpoint.ledger.protocol import DEFAULT_LIMIT
from setpoint.ledger.record import Scope, TaskSummary
from setpoint.ledger.search import only_match
from setpoint.ledger.writer import StoredWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from types import TracebackType

    from typing_extensions import Self

    from setpoint.ledger.lease import Lease
    from setpoint.ledger.record import Attempt, Run, RunState
    from setpoint.ledger.transition import Change


class MemoryLedger(StoredWriter):
    """Keeps the records in dictionaries. Threads share it; other processes do not see it."""

    def __init__(self, *, readonly: bool = False, now: Callable[[], datetime] = utc_now) -> None:
        self._readonly = readonly
        self._now = now
        self._lock = threading.RLock()
        self._records = _Records()
        self._deliveries = MemoryDeliveries()

    @property
    def outbox(self) -> Outbox:
        """What is to be sent to the outside world."""
        return Outbox(self._sending, self._looking, now=self._now)

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
        with self._lock:
            found = [self._records.runs[each] for each in self._records.latest.values()]
        found = sorted(_matching(found, task, state, start, end), key=lambda run: run.task)
        whole = [run for run in found if run.window_start is None]
        windowed = [run for run in found if run.window_start is not None]
        windowed.sort(key=lambda run: (run.window_start, run.window_end), reverse=True)
        return [_copy(run) for run in (whole + windowed)[:limit]]

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
        with self._lock:
            found = _matching(list(self._records.runs.values()), task, state, start, end)
        found.sort(key=lambda run: run.fence, reverse=True)
        return [_copy(run) for run in found[:limit]]

    def run(self, run_id: str) -> Run:
        """The run of this id, or of the only id that begins so."""
        with self._lock:
            exact = self._records.find(run_id)
            if exact:
                return _copy(exact)
            begun = [run for known, run in self._records.runs.items() if known.startswith(run_id)]
        return _copy(only_match(run_id, sorted(begun, key=lambda run: run.run_id)))

    def attempts(self, run_id: str) -> list[Attempt]:
        """The tries of a run, in order; none for a run that is not known."""
        with self._lock:
            return self._records.attempts_of(run_id)

    def scope(
        self, task: str, window_start: datetime | None, window_end: datetime | None
    ) -> Run | None:
        """The latest run of exactly this task and window."""
        scope = Scope(task=task, window_start=window_start, window_end=window_end)
        with self._lock:
            found = self._records.latest_of(scope)
        return _copy(found) if found else None

    def summary(self) -> list[TaskSummary]:
        """Where each task stands, by name."""
        by_task: dict[str, list[Run]] = {}
        for run in self.latest(limit=None):
            by_task.setdefault(run.task, []).append(run)
        return [_summary(task, runs) for task, runs in sorted(by_task.items())]

    def leases(self, task: str | None = None) -> list[Lease]:
        """The leases that are held, the oldest first."""
        with self._lock:
            return [each for each in self._records.leases() if task in (None, each.task)]

    def close(self) -> None:
        """Nothing to let go of."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[_Records]:
        if self._readonly:
            raise LedgerError("The ledger was opened for reading only.")
        with self._lock:
            before = self._records.copy()
            try:
                yield self._records
            except BaseException:
                self._records = before
                raise

    @contextmanager
    def _sending(self) -> Iterator[MemoryDeliveries]:
        with self._transaction():
            before = self._deliveries.copy()
            try:
                yield self._deliveries
            except BaseException:
                self._deliveries = before
                raise

    @contextmanager
    def _looking(self) -> Iterator[MemoryDeliveries]:
        with self._lock:
            yield self._deliveries


class _Records:
    """The dictionaries, and the last fence given out."""

    def __init__(self) -> None:
        self.fence = 0
        self.runs: dict[str, Run] = {}
        self.tries: dict[tuple[str, int], Attempt] = {}
        self.latest: dict[Scope, str] = {}
        self.held: dict[int, Lease] = {}

    def copy(self) -> _Records:
        twin = _Records()
        twin.fence = self.fence
        twin.runs, twin.tries = dict(self.runs), dict(self.tries)
        twin.latest, twin.held = dict(self.latest), dict(self.held)
        return twin

    def next_fence(self, at_least: int = 0) -> int:
        self.fence = max(self.fence, at_least) + 1
        return self.fence

    def find(self, run_id: str) -> Run | None:
        return self.runs.get(run_id)

    def latest_of(self, scope: Scope) -> Run | None:
        run_id = self.latest.get(scope)
        return self.runs[run_id] if run_id else None

    def attempts_of(self, run_id: str) -> list[Attempt]:
        run = self.runs.get(run_id)
        return [self.tries[run_id, number + 1] for number in range(run.attempts)] if run else []

    def put(self, change: Change) -> None:
        for run in change.runs:
            if run.run_id not in self.runs:
                self.latest[run.scope] = run.run_id
            self.runs[run.run_id] = run
        for attempt in change.attempts:
            self.tries[attempt.run_id, attempt.number] = attempt

    def leases(self) -> list[Lease]:
        return [self.held[fence] for fence in sorted(self.held)]

    def put_lease(self, lease: Lease) -> None:
        self.held[lease.fence] = lease

    def drop_lease(self, fence: int) -> None:
        self.held.pop(fence, None)

    def runs_after(self, fence: int, task: str) -> list[Run]:
        return [run for run in self.runs.values() if run.task == task and run.fence > fence]


def _copy(run: Run) -> Run:
    # A caller may change the dictionary it was given; the record must not change with it.
    return replace(run, detail=deepcopy(run.detail))


def _matching(
    runs: Iterable[Run],
    task: str | None,
    state: RunState | None,
    start: datetime | None,
    end: datetime | None,
) -> list[Run]:
    start, end = start and in_utc(start), end and in_utc(end)

    def fits(run: Run) -> bool:
        if (task is not None and run.task != task) or (state is not None and run.state != state):
            return False
        if start is None and end is None:
            return True
        if run.window_start is None or run.window_end is None:
            return False
        return (start is None or run.window_end > start) and (end is None or run.window_start < end)

    return [run for run in runs if fits(run)]


def _summary(task: str, runs: list[Run]) -> TaskSummary:
    by_fence = sorted(runs, key=lambda run: run.fence, reverse=True)
    succeeded = [run for run in by_fence if run.state == "succeeded"]
    failed = [run for run in by_fence if run.state == "failed"]
    return TaskSummary(
        task=task,
        running=len(runs) - len(succeeded) - len(failed),
        succeeded=len(succeeded),
        failed=len(failed),
        rows=sum(run.rows or 0 for run in succeeded),
        last_window_start=runs[0].window_start,
        last_window_end=runs[0].window_end,
        last_success=succeeded[0].finished_at if succeeded else None,
        last_error=failed[0].error if failed else None,
        last_error_kind=failed[0].error_kind if failed else None,
    )
