"""The writer side, once for every store: load what is recorded, decide, put, in one transaction."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from setpoint.errors import LedgerError
from setpoint.ledger import transition
from setpoint.ledger.lease import Claim, Grant, granted, in_the_way, lost
from setpoint.ledger.record import Scope
from setpoint.ledger.transition import Change, Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from setpoint.ledger.lease import Holder, Lease
    from setpoint.ledger.record import Attempt, Detail, Outcome, Run, Started


class Store(Protocol):
    """The records as one transaction sees them. Nobody else writes until it ends."""

    def next_fence(self, at_least: int = 0) -> int:
        """A number higher than any given before, and than `at_least`."""
        ...

    def find(self, run_id: str) -> Run | None:
        """The run of exactly this id."""
        ...

    def latest_of(self, scope: Scope) -> Run | None:
        """The latest run of this task and window."""
        ...

    def attempts_of(self, run_id: str) -> list[Attempt]:
        """The run's attempts, in order."""
        ...

    def put(self, change: Change) -> None:
        """Keep the change."""
        ...

    def leases(self) -> list[Lease]:
        """Every lease that is held, the oldest first."""
        ...

    def put_lease(self, lease: Lease) -> None:
        """Keep the lease."""
        ...

    def drop_lease(self, fence: int) -> None:
        """Forget the lease."""
        ...

    def runs_after(self, fence: int, task: str) -> list[Run]:
        """The task's runs with a higher fence."""
        ...


def new_run_id() -> str:
    """Sixteen random hexadecimal digits.

    Random from the first digit, so that a short prefix tells two runs of one night apart; the
    order of runs is that of their fences.
    """
    return os.urandom(8).hex()


class StoredWriter(ABC):
    """Implements `LedgerWriter` over a store's transaction."""

    _now: Callable[[], datetime]

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Store]:
        """A transaction that excludes other writers, and keeps all or nothing."""

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
        """Take the next fence for a task and window, and open an attempt."""
        scope = Scope(task=task, window_start=window_start, window_end=window_end)
        with self._transaction() as store:
            if lease:
                _check_lease(store, lease)
            latest = store.latest_of(scope)
            change, started = transition.begin(
                scope,
                target=target,
                fingerprint=fingerprint,
                run_id=_fresh(store, run_id),
                latest=latest,
                attempts=_open_attempts(store, latest),
                origin=self._origin(store, pid=pid, host=host),
            )
            store.put(change)
        return started

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
        with self._transaction() as store:
            if lease:
                _check_lease(store, lease)
            run = _held(store, run_id, fence)
            transition.still_open(run, "running")
            change, started = transition.retry(
                run,
                attempts=store.attempts_of(run_id),
                error=error,
                error_kind=error_kind,
                seconds=seconds,
                origin=self._origin(
                    store,
                    pid=run.pid if pid is None else pid,
                    host=run.host if host is None else host,
                ),
            )
            store.put(change)
        return started

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
        """Mark the run succeeded. Said twice with one fence, the second time changes nothing."""
        with self._transaction() as store:
            if lease:
                _check_lease(store, lease)
            run = _held(store, run_id, fence)
            if not transition.still_open(run, "succeeded"):
                return run
            change = transition.succeed(
                run,
                attempts=store.attempts_of(run_id),
                rows=rows,
                snapshot=snapshot,
                checksum=checksum,
                seconds=seconds,
                detail=detail or {},
                adopted=adopted,
                now=self._now(),
            )
            store.put(change)
        return change.runs[-1]

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
        with self._transaction() as store:
            run = _held(store, run_id, fence)
            if not transition.still_open(run, "failed"):
                return run
            change = transition.fail(
                run,
                attempts=store.attempts_of(run_id),
                error=error,
                error_kind=error_kind,
                seconds=seconds,
                detail=detail or {},
                now=self._now(),
            )
            store.put(change)
        return change.runs[-1]

    def take_fence(self) -> int:
        """A number higher than any given before, for a job that sets many windows."""
        with self._transaction() as store:
            return store.next_fence()

    def set_checksum(self, run_id: str, checksum: str) -> Run:
        """Add the content checksum to a run that succeeded."""
        with self._transaction() as store:
            run = store.find(run_id)
            if run is None:
                raise transition.unknown(run_id)
            if run.state != "succeeded":
                raise LedgerError(
                    f"Run {run_id} ({run.task}) is {run.state}; only a run that succeeded"
                    " has a checksum."
                )
            summed = replace(run, checksum=checksum)
            store.put(Change(runs=(summed,)))
        return summed

    def record_many(
        self,
        outcomes: Iterable[Outcome],
        *,
        pid: int,
        host: str,
        lease: Lease | None = None,
    ) -> list[Run]:
        """Record windows that ended together: a run of one attempt each, a fence each, in order."""
        # The caller's iterable may do anything; no other writer should wait while it does.
        ready = list(outcomes)
        recorded = []
        with self._transaction() as store:
            if lease:
                _check_lease(store, lease)
            for outcome in ready:
                latest = store.latest_of(outcome.scope)
                change = transition.record(
                    outcome,
                    run_id=_fresh(store, outcome.run_id),
                    latest=latest,
                    attempts=_open_attempts(store, latest),
                    origin=self._origin(store, pid=pid, host=host),
                )
                store.put(change)
                recorded.append(change.runs[-1])
        return recorded

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
        """Take the lease on a task's window, unless another process has one that overlaps it."""
        scope = Scope(task=task, window_start=window_start, window_end=window_end)
        claim = Claim(scope=scope, target=target, holder=holder, seconds=seconds)
        with self._transaction() as store:
            held = store.leases()
            blocked_by = in_the_way(claim, held, over=over)
            if blocked_by:
                return Grant(lease=None, blocked_by=blocked_by)
            for each in in_the_way(claim, held, over=()):
                store.drop_lease(each.fence)
                latest = None if each.scope == scope else store.latest_of(each.scope)
                if latest and latest.state == "running":
                    tried = store.attempts_of(latest.run_id)
                    store.put(transition.abandon(latest, attempts=tried, now=self._now()))
            lease = granted(claim, fence=store.next_fence(at_least), now=self._now())
            store.put_lease(lease)
        return Grant(lease=lease)

    def renew(self, lease: Lease) -> Lease:
        """Raise the lease's beat; `LeaseLost` when another process has taken it over."""
        with self._transaction() as store:
            held = _check_lease(store, lease)
            renewed = replace(held, beat=held.beat + 1)
            store.put_lease(renewed)
        return renewed

    def release(self, lease: Lease) -> None:
        """Give the lease back; nothing happens when it is no longer held."""
        with self._transaction() as store:
            if _held_lease(store.leases(), lease):
                store.drop_lease(lease.fence)

    def _origin(self, store: Store, *, pid: int, host: str) -> Origin:
        return Origin(fence=store.next_fence(), now=self._now(), pid=pid, host=host)


def _held_lease(held: Iterable[Lease], lease: Lease) -> Lease | None:
    # By the holder too: a ledger that was made anew gives its fences a second time.
    same = (each for each in held if each.fence == lease.fence and each.holder == lease.holder)
    return next(same, None)


def _check_lease(store: Store, lease: Lease) -> Lease:
    leases = store.leases()
    held = _held_lease(leases, lease)
    if held is None:
        raise lost(lease, leases=leases, runs=store.runs_after(lease.fence, lease.task))
    return held


def _held(store: Store, run_id: str, fence: int) -> Run:
    run = store.find(run_id)
    latest = store.latest_of(run.scope) if run else None
    return transition.held(run, run_id=run_id, fence=fence, latest=latest)


def _open_attempts(store: Store, latest: Run | None) -> list[Attempt]:
    return store.attempts_of(latest.run_id) if latest and latest.state == "running" else []


def _fresh(store: Store, run_id: str | None) -> str:
    if run_id is None:
        return new_run_id()
    if store.find(run_id) is not None:
        raise LedgerError(f"Run {run_id} is already in the ledger.")
    return run_id
