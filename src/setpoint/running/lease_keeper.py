"""Holding leases while steps run: waiting for a turn, renewing, learning of a loss."""

from __future__ import annotations

import contextlib
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from setpoint.errors import LeaseHeld, LeaseLost, LedgerError
from setpoint.ledger.holder import is_gone, this_process
from setpoint.model.plan import WHOLE_TABLE
from setpoint.running.lease_watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from typing_extensions import Self

    from setpoint.ledger.lease import Lease
    from setpoint.ledger.protocol import Ledger
    from setpoint.model.task import Task
    from setpoint.model.window import Window

LEASE_SECONDS = 60.0
BEATS_A_LEASE = 4
LONGEST_PAUSE = 1.0


class Held:
    """A lease while its step runs; knows when it was lost, and stops what it was told to stop."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.lost: LeaseLost | None = None
        self._stop: Callable[[], None] | None = None
        self._lock = threading.Lock()

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Have `stop` called if the lease is lost meanwhile; says so, whatever came of it."""
        with self._lock:
            self._stop = stop
        try:
            yield
        except Exception:
            if self.lost:
                raise self.lost from None
            raise
        finally:
            with self._lock:
                self._stop = None

    def renew(self, ledger: Ledger) -> None:
        """Beat once. A ledger that does not answer is asked again at the next beat."""
        if self.lost:
            return
        try:
            self.lease = ledger.renew(self.lease)
        except LeaseLost as lost:
            with self._lock:
                self.lost, stop = lost, self._stop
            if stop:
                stop()
        except LedgerError:
            # Whether it is lost only the ledger can say; nothing is recorded before it has.
            return


class LeaseKeeper:
    """Takes leases in one process's name and renews them, by a thread of its own, until closed."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        seconds: float = LEASE_SECONDS,
        patient: bool = True,
        say: Callable[[str], None] = lambda _: None,
        wait: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ledger = ledger
        self.seconds = seconds
        self.patient = patient
        self.say = say
        self.wait = wait
        self.clock = clock
        self.holder = this_process()
        self._held: list[Held] = []
        self._ended = threading.Event()
        self._heart: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the renewals."""
        self._ended.set()
        if self._heart:
            self._heart.join(LONGEST_PAUSE)

    @contextmanager
    def holding(self, task: Task, window: Window | None, *, at_least: int = 0) -> Iterator[Held]:
        """Hold the scope, once it is free: a dead or silent holder is taken over.

        A live one is waited for, or, if this keeper is not patient, the scope is refused.
        """
        held = Held(self._taken(task, window, at_least))
        self._held.append(held)
        self._start()
        try:
            yield held
        finally:
            self._held.remove(held)
            # What is not given back is taken from a dead process anyway.
            with contextlib.suppress(LedgerError):
                self.ledger.release(held.lease)

    def _taken(self, task: Task, window: Window | None, at_least: int) -> Lease:
        watch = Watch(is_gone=is_gone)
        over: tuple[Lease, ...] = ()
        told: set[int] = set()
        pause = LONGEST_PAUSE / 8
        while True:
            grant = self.ledger.take(
                task.name,
                window.start if window else None,
                window.end if window else None,
                target=str(task.target),
                holder=self.holder,
                seconds=self.seconds,
                over=over,
                at_least=at_least,
            )
            if grant.lease:
                for each in over:
                    self.say(self._words(task, window, "takes over from", each))
                return grant.lease
            ended = watch.ended(grant.blocked_by, self.clock())
            alive = [each for each in grant.blocked_by if each not in ended]
            # All or none: those left out of the answer would no longer be watched.
            over = () if alive else ended
            if not alive:
                continue
            if not self.patient:
                raise self._refusal(task, window, alive)
            for each in alive:
                if each.fence not in told:
                    told.add(each.fence)
                    self.say(self._words(task, window, "waits for", each))
            self.wait(pause)
            pause = min(LONGEST_PAUSE, pause * 2)

    def _words(self, task: Task, window: Window | None, does: str, lease: Lease) -> str:
        return f"{task.name}  {_label(window)}  {does} {self._named(lease)}"

    def _named(self, lease: Lease) -> str:
        """Who holds a lease, as a person can find it."""
        runs = self.ledger.runs(lease.task, state="running")
        own = (run for run in runs if (run.pid, run.host) == (lease.pid, lease.host))
        run = next((run for run in own if run.fence > lease.fence), None)
        what = f"run {run.run_id}" if run else f"a run of {lease.task}"
        return f"{what} (pid {lease.pid} on {lease.host}, since {lease.taken_at:%H:%M:%SZ})"

    def _refusal(self, task: Task, window: Window | None, alive: Sequence[Lease]) -> LeaseHeld:
        others = ", ".join(map(self._named, alive))
        here = [str(each.pid) for each in alive if each.machine == self.holder.machine]
        stop = f", or end it: kill {' '.join(here)}" if len(here) == len(alive) else ""
        return LeaseHeld(
            f"{task.name} {_label(window)}: {others} is at work on it",
            next_step=f"without --no-wait the command waits for it{stop}",
        )

    def _start(self) -> None:
        if self._heart is None:
            self._heart = threading.Thread(target=self._beat, name="setpoint-leases", daemon=True)
            self._heart.start()

    def _beat(self) -> None:
        while not self._ended.wait(self.seconds / BEATS_A_LEASE):
            for held in tuple(self._held):
                held.renew(self.ledger)


def _label(window: Window | None) -> str:
    return window.label if window else WHOLE_TABLE
