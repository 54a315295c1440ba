"""Random histories of runs, deaths, pauses, takeovers, batches and foreign writes.

The runner, its leases and the ledger are the real ones; processes, time and the table are not, so
that thousands of histories take seconds and each can be replayed. `make histories` runs more.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from random import Random
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from tests.task_maker import Maker

from setpoint.engine.protocol import Outcome
from setpoint.errors import CommitConflict, LeaseHeld, LedgerError, StaleFence, Transient
from setpoint.ledger.lease import Holder, overlap
from setpoint.ledger.memory import MemoryLedger
from setpoint.ledger.record import Outcome as Recorded
from setpoint.model.plan import Plan, Step
from setpoint.model.retry import Backoff, Retry
from setpoint.model.window import Window
from setpoint.running import lease_keeper
from setpoint.running.lease_keeper import LeaseKeeper
from setpoint.running.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.engine.protocol import Token
    from setpoint.ledger.protocol import Ledger
    from setpoint.model.task import Task

HISTORIES = int(os.environ.get("SETPOINT_HISTORIES", "200"))
FIRST = datetime(2026, 4, 1, tzinfo=timezone.utc)
DAYS = 4
FOREIGN = -1
TASK = Maker.task(retry=Retry(retries=1, backoff=Backoff(first=1, factor=1, jitter=0)))
FATES = st.sampled_from(
    ["well", "well", "dies before", "dies after", "fails once", "answer lost", "paused"]
)
RANGES = st.tuples(st.integers(0, DAYS - 1), st.integers(1, 3)).map(
    lambda drawn: (drawn[0], min(DAYS, drawn[0] + drawn[1]))
)


class Died(BaseException):
    """The process is no more; nothing of it runs on."""


@dataclass(frozen=True)
class Commit:
    """One commit of the table."""

    days: range
    run_id: str
    fence: int
    content: dict[int, int]
    inputs: dict[str, str]


@dataclass
class World:
    """Everything that outlives a process."""

    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    commits: list[Commit] = field(default_factory=list)
    source: dict[int, int] = field(default_factory=lambda: dict.fromkeys(range(DAYS), 0))
    dead: set[Holder] = field(default_factory=set)
    now: float = 0.0
    born: int = 0
    fences: list[int] = field(default_factory=list)

    def table(self) -> dict[int, Commit]:
        """The newest commit of each day."""
        return {day: each for each in self.commits for day in each.days}

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def inputs(self, days: range) -> dict[str, str]:
        """The snapshot of the source of each day."""
        return {f"source-{day}": str(self.source[day]) for day in days}


class Mortal:
    """The ledger as one process reaches it: not at all, once it is dead."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.dead = False

    def __getattr__(self, name: str) -> Any:
        """Pass the call on, and note the fences that are given."""
        call = getattr(self.world.ledger, name)
        if not callable(call):
            return call  # records of another kind, which no history here writes

        def reached(*given: Any, **options: Any) -> Any:
            if self.dead:
                raise LedgerError("nobody is there to ask")
            answer = call(*given, **options)
            if name in {"begin", "retry"}:
                self.world.fences.append(answer.fence)
            if name == "take" and answer.lease:
                self.world.fences.append(answer.lease.fence)
            return answer

        return reached


class Process:
    """One process: an engine over the shared table, which meets its fates in order."""

    def __init__(self, world: World, fates: list[str], meanwhile: Callable[[], None]) -> None:
        world.born += 1
        self.world = world
        self.holder = Holder(pid=world.born, host="h", machine="m", born=str(world.born))
        self.ledger = Mortal(world)
        self.fates = list(fates)
        self.meanwhile = meanwhile

    def carry_out(
        self,
        task: Task,  # noqa: ARG002
        window: Window | None,
        token: Token,
        *,
        as_of: Any = None,  # noqa: ARG002
    ) -> Outcome:
        """Set the days to what the source holds, unless they changed since the start."""
        days = days_of(window)
        return self.set(days, token.run_id, token.fence)

    def set(self, days: range, run_id: str, fence: int) -> Outcome:
        """Commit, or whatever else is its fate."""
        fate = self.fates.pop(0) if self.fates else "well"
        base = len(self.world.commits)
        content = {day: self.world.source[day] for day in days}
        inputs = self.world.inputs(days)
        if fate == "dies before":
            self.die()
        if fate == "fails once":
            raise Transient("once")
        if fate == "paused":
            self.meanwhile()
        if any(set(each.days) & set(days) for each in self.world.commits[base:]):
            raise CommitConflict("somebody wrote")
        self.world.commits.append(Commit(days, run_id, fence, content, inputs))
        if fate == "dies after":
            self.die()
        if fate == "answer lost":
            raise Transient("the answer")
        return Outcome(rows=len(days), snapshot=str(base), inputs=inputs)

    def die(self) -> None:
        """End, as kill -9 does."""
        self.world.dead.add(self.holder)
        self.ledger.dead = True
        raise Died

    def find_commit(
        self,
        task: Task,  # noqa: ARG002
        run_id: str,
        *,
        as_of: Any = None,  # noqa: ARG002
    ) -> Outcome | None:
        """The newest commit of the run, if a run now would repeat it."""
        for number, each in reversed(list(enumerate(self.world.commits))):
            if each.run_id == run_id:
                same = each.inputs == self.world.inputs(each.days)
                later = (
                    set(after.days) & set(each.days) for after in self.world.commits[number + 1 :]
                )
                adoptable = same and not any(later)
                return Outcome(rows=1, snapshot=str(number)) if adoptable else None
        return None

    def rows(self, *_: Any, **__: Any) -> list[dict[str, Any]]:
        """Never asked for."""
        raise NotImplementedError

    def cancel(self, token: Token) -> None:
        """Nothing runs beside the process itself."""

    def highest_fence(self, task: Task) -> int:  # noqa: ARG002
        """Of all commits."""
        return max((each.fence for each in self.world.commits), default=0)

    def checksum(self, task: Task, window: Window | None, snapshot: str | None) -> str:
        """Never asked for."""
        raise NotImplementedError

    def analyse(self, task: Task, window: Window | None) -> Any:
        """Never asked for."""
        raise NotImplementedError


def window_of(first: int, end: int) -> Window:
    """The days from one to another, exclusive."""
    return Window(start=FIRST + timedelta(days=first), end=FIRST + timedelta(days=end))


def days_of(window: Window | None) -> range:
    """The days of a window."""
    assert window is not None
    return range((window.start - FIRST).days, (window.end - FIRST).days)


class Histories(RuleBasedStateMachine):
    """Any number of processes on one task, and one table."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(lease_keeper, "is_gone", self.world.dead.__contains__)

    def teardown(self) -> None:
        """Put back what was patched."""
        self.patched.undo()

    @rule(days=RANGES, fates=st.lists(FATES, max_size=3), other=RANGES, patient=st.booleans())
    def run(
        self, days: tuple[int, int], fates: list[str], other: tuple[int, int], *, patient: bool
    ) -> None:
        """A command runs each day of a range; while it is paused, another one runs."""
        self.command(days, fates, lambda: self.command(other, [], nothing), patient=patient)

    @rule(days=RANGES, fates=st.lists(FATES, max_size=2), other=RANGES)
    def run_while_a_batch_takes_over(
        self, days: tuple[int, int], fates: list[str], other: tuple[int, int]
    ) -> None:
        """While a command is paused, a batch over some of its days takes over."""
        self.command(days, ["paused", *fates], lambda: self.batched(other, [], nothing))

    @rule(days=RANGES, fates=st.lists(FATES, max_size=1), other=RANGES)
    def batch(self, days: tuple[int, int], fates: list[str], other: tuple[int, int]) -> None:
        """A backfill sets a range in one commit; while it is paused, a command runs."""
        self.batched(days, fates, lambda: self.command(other, ["dies after"], nothing))

    @rule(day=st.integers(0, DAYS - 1))
    def change_source(self, day: int) -> None:
        """The source of a day is corrected."""
        self.world.source[day] += 1

    @rule(days=RANGES)
    def write_from_elsewhere(self, days: tuple[int, int]) -> None:
        """Somebody writes to the table by other means."""
        covered = range(*days)
        self.world.commits.append(Commit(covered, "", 0, dict.fromkeys(covered, FOREIGN), {}))

    def command(
        self,
        days: tuple[int, int],
        fates: list[str],
        meanwhile: Callable[[], None],
        *,
        patient: bool = True,
    ) -> None:
        """One `setpoint run`, in a process of its own."""
        process = self.process(fates, meanwhile)
        runner = Runner(
            engine=process,
            ledger=cast("Ledger", process.ledger),
            patient=patient,
            wait=self.world.wait,
            clock=lambda: self.world.now,
            chance=Random(0),
        )
        steps = tuple(Step(task=TASK, window=window_of(day, day + 1)) for day in range(*days))
        try:
            results = runner.run(Plan(steps=steps))
        except Died:
            return
        for result in results:
            (day,) = days_of(result.step.window)
            if result.state == "succeeded" and not fates:
                self.is_clean(day)

    def batched(
        self, days: tuple[int, int], fates: list[str], meanwhile: Callable[[], None]
    ) -> None:
        """One range in one commit, recorded day by day."""
        process = self.process(fates, meanwhile)
        ledger = cast("Ledger", process.ledger)
        keeper = LeaseKeeper(ledger, wait=self.world.wait, clock=lambda: self.world.now)
        try:
            with keeper, keeper.holding(TASK, window_of(*days)) as held:
                covered = range(*days)
                process.set(covered, f"batch-{held.lease.fence}", held.lease.fence)
                outcomes = [recorded(day) for day in covered]
                ledger.record_many(outcomes, pid=1, host="h", lease=held.lease)
        except (Died, Transient, CommitConflict, StaleFence, LeaseHeld):
            return
        if not fates:
            for day in covered:
                self.is_clean(day)

    def process(self, fates: list[str], meanwhile: Callable[[], None]) -> Process:
        """A new process; what asks who it is from now on is told so."""
        process = Process(self.world, fates, meanwhile)
        self.patched.setattr(lease_keeper, "this_process", lambda: process.holder)
        return process

    def is_clean(self, day: int) -> None:
        """The day is what a clean run makes of the source as it is now."""
        newest = self.world.table()[day]
        assert newest.content[day] == self.world.source[day], (day, newest)

    @invariant()
    def fences_grow(self) -> None:
        """Each that was given is higher than all before."""
        given = self.world.fences
        assert given == sorted(set(given))

    @invariant()
    def no_two_leases_overlap(self) -> None:
        """Also those of the dead."""
        held = [each.scope for each in self.world.ledger.leases()]
        for number, one in enumerate(held):
            assert not any(overlap(one, other) for other in held[number + 1 :])

    @invariant()
    def no_live_process_is_left_with_a_lease(self) -> None:
        """Between commands only the dead hold any."""
        assert {each.holder for each in self.world.ledger.leases()} <= self.world.dead

    @invariant()
    def ledger_and_table_agree(self) -> None:
        """What the ledger calls done was committed, with content that was right at the time."""
        table = self.world.table()
        for day in range(DAYS):
            window = window_of(day, day + 1)
            run = self.world.ledger.scope(TASK.name, window.start, window.end)
            if run is None or run.state != "succeeded":
                continue
            mine = [each for each in self.world.commits if day in each.days and each.run_id]
            assert mine, (day, run)
            newest = table[day]
            # Nobody writes over a recorded run but a later attempt, a dead one's, or a stranger.
            assert newest.run_id == "" or newest.fence >= 1
            assert newest.run_id == "" or newest.content[day] <= self.world.source[day]


def recorded(day: int) -> Recorded:
    """A day that a batch has set."""
    window = window_of(day, day + 1)
    return Recorded(
        task=TASK.name,
        window_start=window.start,
        window_end=window.end,
        target=str(TASK.target),
        fingerprint=TASK.fingerprint,
        state="succeeded",
        rows=1,
    )


def nothing() -> None:
    """Nobody else does anything."""


class HistoriesHealed(Histories):
    """Each history ends with one plain command on every day."""

    def teardown(self) -> None:
        """Run everything once more: the table must be that of a clean run, the ledger done."""
        try:
            self.command((0, DAYS), [], nothing)
            assert {day: c.content[day] for day, c in self.world.table().items()} == (
                self.world.source
            )
            runs = self.world.ledger.latest(TASK.name)
            assert {run.state for run in runs} == {"succeeded"}
            assert self.world.ledger.leases() == []
        finally:
            super().teardown()


def test_every_history_ends_as_clean_runs_would() -> None:
    """A1, A2: run, crash, retry, takeover, batch and foreign write in any order."""
    run_state_machine_as_test(
        HistoriesHealed,
        settings=settings(
            max_examples=HISTORIES,
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
