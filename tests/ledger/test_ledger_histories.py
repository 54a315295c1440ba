"""Random histories of runs, crashes and takeovers: every ledger tells the same story."""

from __future__ import annotations

import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from setpoint.errors import LedgerError
from setpoint.ledger.lease import Grant, Holder, Lease, overlap
from setpoint.ledger.memory import MemoryLedger
from setpoint.ledger.record import Outcome
from setpoint.ledger.sqlite import SqliteLedger

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.ledger.protocol import Ledger

MIDNIGHT = datetime(2026, 4, 1, tzinfo=timezone.utc)
TASKS = st.sampled_from(["orders", "customers"])
WINDOWS = st.sampled_from(
    [(None, None)]
    + [(MIDNIGHT + timedelta(days=n), MIDNIGHT + timedelta(days=n + 1)) for n in range(3)]
)
CODE = st.sampled_from(["code-1", "code-2"])
Window = tuple["datetime | None", "datetime | None"]


class Histories(RuleBasedStateMachine):
    """Does the same to a ledger in memory and to one in a file."""

    held = Bundle("held")
    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.ticks = 0
        self.number = 0
        self.path = Path(self.folder.name) / "ledger.db"
        self.memory = MemoryLedger(now=self.now)
        self.file = SqliteLedger(self.path, now=self.now)
        # What must hold whatever the ledgers agree on: who holds which scope, by fence.
        self.holders: dict[tuple[str, Window], int] = {}

    def teardown(self) -> None:
        """Remove the file."""
        self.file.close()
        self.folder.cleanup()

    def now(self) -> datetime:
        """A clock that stands still within a call: both ledgers read it once for each."""
        return MIDNIGHT + timedelta(seconds=self.ticks)

    def both(self, call: Callable[[Ledger], object]) -> object:
        """The answer of both, which must be one; errors are answers too."""
        self.ticks += 1
        answers = []
        for ledger in (self.memory, self.file):
            try:
                answers.append(call(ledger))
            except LedgerError as error:
                answers.append((type(error), error.message))
        assert answers[0] == answers[1]
        return answers[0]

    def name(self) -> str:
        """A run id that both ledgers are told."""
        self.number += 1
        return f"run-{self.number}"

    @rule(target=held, task=TASKS, window=WINDOWS, code=CODE)
    def begin(self, task: str, window: Window, code: str) -> tuple[str, int, str, Window]:
        """Begin, continue or take over."""
        run_id = self.name()
        self.both(
            lambda ledger: ledger.begin(
                task, *window, target="t", fingerprint=code, pid=1, host="h", run_id=run_id
            )
        )
        run = self.file.scope(task, *window)
        assert run is not None
        self.holders[task, window] = run.fence
        return run.run_id, run.fence, task, window

    @rule(target=held, attempt=held)
    def retry(self, attempt: tuple[str, int, str, Window]) -> tuple[str, int, str, Window]:
        """Try again, or be told that somebody else does."""
        run_id, fence, task, window = attempt
        holds = self.holders[task, window] == fence
        answer = self.both(
            lambda ledger: ledger.retry(run_id, fence, error="e", error_kind="k", seconds=1.0)
        )
        if isinstance(answer, tuple):
            return attempt
        assert holds
        self.holders[task, window] = self.file.run(run_id).fence
        return run_id, self.holders[task, window], task, window

    @rule(attempt=held, adopted=st.booleans(), rows=st.integers(0, 5))
    def succeed(self, attempt: tuple[str, int, str, Window], rows: int, *, adopted: bool) -> None:
        """End well; only who holds the scope may."""
        run_id, fence, task, window = attempt
        answer = self.both(
            lambda ledger: ledger.succeed(
                run_id, fence, rows=rows, seconds=0.5, detail={"n": rows}, adopted=adopted
            )
        )
        assert isinstance(answer, tuple) or self.holders[task, window] == fence

    @rule(attempt=held)
    def fail(self, attempt: tuple[str, int, str, Window]) -> None:
        """End badly; only who holds the scope may."""
        run_id, fence, task, window = attempt
        answer = self.both(lambda ledger: ledger.fail(run_id, fence, error="e", error_kind="k"))
        assert isinstance(answer, tuple) or self.holders[task, window] == fence

    @rule(attempt=held)
    def set_checksum(self, attempt: tuple[str, int, str, Window]) -> None:
        """Sum a run, when it has something to sum."""
        self.both(lambda ledger: ledger.set_checksum(attempt[0], "ck1"))

    @rule(task=TASKS, windows=st.lists(WINDOWS, max_size=3))
    def record_many(self, task: str, windows: list[Window]) -> None:
        """Record a batch, which may hold a window twice."""
        outcomes = [
            Outcome(
                task=task,
                window_start=start,
                window_end=end,
                target="t",
                fingerprint="code-1",
                state="succeeded",
                rows=1,
                run_id=self.name(),
            )
            for start, end in windows
        ]
        self.both(lambda ledger: ledger.record_many(outcomes, pid=1, host="h"))
        for window in windows:
            run = self.file.scope(task, *window)
            assert run is not None
            self.holders[task, window] = run.fence

    @rule(
        target=leases,
        task=TASKS,
        window=WINDOWS,
        who=st.integers(1, 3),
        over=st.lists(leases, max_size=2),
        at_least=st.integers(0, 5),
    )
    def take(
        self, task: str, window: Window, who: int, over: list[Lease | None], at_least: int
    ) -> Lease | None:
        """Take a scope, if nothing but what is taken over stands in the way."""
        holder = Holder(pid=who, host="h", machine="m", born=str(who))
        seen = [lease for lease in over if lease]
        grant = self.both(
            lambda ledger: ledger.take(
                task,
                *window,
                target=task,
                holder=holder,
                seconds=60.0,
                over=seen,
                at_least=self.fence() + at_least - 3,
            )
        )
        assert isinstance(grant, Grant)
        return grant.lease

    @rule(target=leases, lease=leases)
    def renew(self, lease: Lease | None) -> Lease | None:
        """Beat, or be told who took it."""
        if lease is None:
            return None
        answer = self.both(lambda ledger: ledger.renew(lease))
        return answer if isinstance(answer, Lease) else lease

    @rule(lease=leases)
    def release(self, lease: Lease | None) -> None:
        """Give it back, once or twice, lost or not."""
        if lease:
            self.both(lambda ledger: ledger.release(lease))

    @rule(lease=leases, task=TASKS, window=WINDOWS)
    def begin_under_a_lease(self, lease: Lease | None, task: str, window: Window) -> None:
        """Whoever lost the lease begins nothing."""
        run_id = self.name()
        live = lease in self.file.leases()
        answer = self.both(
            lambda ledger: ledger.begin(
                task,
                *window,
                target="t",
                fingerprint="code-1",
                pid=1,
                host="h",
                run_id=run_id,
                lease=lease,
            )
        )
        if isinstance(answer, tuple):
            assert not live
            return
        run = self.file.scope(task, *window)
        assert run is not None
        self.holders[task, window] = run.fence

    def fence(self) -> int:
        """The highest that was given."""
        return max((run.fence for run in self.file.runs(limit=None)), default=0)

    @rule()
    def crash(self) -> None:
        """The process dies in the middle of a transaction; the next opens what was kept."""
        held = self.file._connections.here()
        held.execute("BEGIN IMMEDIATE")
        held.execute("UPDATE fence SET last = last + 100")
        self.file.close()
        self.file = SqliteLedger(self.path, now=self.now)

    @invariant()
    def tell_the_same(self) -> None:
        """Every question has one answer."""
        for state in (None, "running", "succeeded", "failed"):
            for task in (None, "orders"):
                assert self.memory.latest(task, state=state) == self.file.latest(task, state=state)
        assert self.memory.runs(limit=None) == self.file.runs(limit=None)
        assert self.memory.summary() == self.file.summary()
        assert self.memory.leases() == self.file.leases()

    @invariant()
    def leases_lie_apart(self) -> None:
        """No two that are held overlap."""
        held = self.file.leases()
        for number, one in enumerate(held):
            for other in held[number + 1 :]:
                assert one.task != other.task or not overlap(one.scope, other.scope)

    @invariant()
    def holds_together(self) -> None:
        """Fences are distinct, counts agree, and each scope has one latest run: its holder."""
        fences = []
        for run in self.file.runs(limit=None):
            attempts = self.file.attempts(run.run_id)
            assert attempts == self.memory.attempts(run.run_id)
            assert run.attempts == len(attempts)
            assert run.fence == attempts[-1].fence
            assert (run.state == "running") == (attempts[-1].state == "running")
            assert all(each.state != "running" for each in attempts[:-1])
            fences += [each.fence for each in attempts]
        assert len(fences) == len(set(fences))
        latest = {
            (run.task, (run.window_start, run.window_end)): run.fence
            for run in self.file.latest(limit=None)
        }
        assert latest == self.holders


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
