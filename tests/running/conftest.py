"""An engine in memory that fails when told to, and a plan for it to carry out."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.task_maker import Maker

from setpoint.engine.protocol import Outcome, Token
from setpoint.ledger.memory import MemoryLedger
from setpoint.model.graph import Graph
from setpoint.model.plan import Dates, Plan, make_plan
from setpoint.running.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from setpoint.errors import SetpointError
    from setpoint.model.analysis import Analysis
    from setpoint.model.effect import Policy
    from setpoint.model.plan import Step
    from setpoint.model.task import Task
    from setpoint.model.window import Window
    from setpoint.running.result import RunResult


class MemoryEngine:
    """Keeps commits by run id; each write first meets what the test has laid in its way."""

    def __init__(self) -> None:
        self.ahead: list[BaseException | None] = []
        """What the coming writes raise, in order; None lets one through."""
        self.lost_answers = 0
        """How many of the coming writes commit, and then raise."""
        self.commits: dict[str, Outcome] = {}
        self.writes: list[tuple[str, str, Token]] = []
        self.as_of: Mapping[str, str] | None = None
        """The snapshots that the last write was told to read."""
        self.looked_for: list[str] = []
        self.cancelled: list[Token] = []
        self.fence_seen = 0
        """The highest fence in the table's history."""
        self.checksums: list[str | None] = []
        self.committed: list[dict[str, Any]] = []
        """What a reader of the committed scope finds."""
        self.rows_read: list[str | None] = []
        self.outcome = Outcome(rows=10, snapshot="s1", replaced=4, inputs={"raw": "77"})

    def carry_out(
        self,
        task: Task,
        window: Window | None,
        token: Token,
        *,
        as_of: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Write, or raise what lies ahead."""
        self.as_of = as_of
        self.writes.append((task.name, window.label if window else "", token))
        fault = self.ahead.pop(0) if self.ahead else None
        if self.lost_answers:
            self.lost_answers -= 1
            self.commits[token.run_id] = self.outcome
        if fault:
            raise fault
        self.commits[token.run_id] = self.outcome
        return self.outcome

    def find_commit(self, task: Task, run_id: str, *, as_of: object = None) -> Outcome | None:  # noqa: ARG002
        """The commit that carries this run's id."""
        self.looked_for.append(run_id)
        return self.commits.get(run_id)

    def cancel(self, token: Token) -> None:
        """Note what was to be stopped."""
        self.cancelled.append(token)

    def highest_fence(self, task: Task) -> int:  # noqa: ARG002
        """What the test says."""
        return self.fence_seen

    def checksum(self, task: Task, window: Window | None, snapshot: str | None) -> str:  # noqa: ARG002
        """A checksum, counted."""
        self.checksums.append(snapshot)
        return "ck1:10:aa"

    def rows(
        self,
        task: Task,  # noqa: ARG002
        window: Window | None,  # noqa: ARG002
        snapshot: str | None,
        *,
        where: str | None = None,  # noqa: ARG002
        summary: Mapping[str, str] | None = None,  # noqa: ARG002
        order: Sequence[str] = (),  # noqa: ARG002
        limit: int,
    ) -> list[dict[str, Any]]:
        """The rows that the test has laid out."""
        self.rows_read.append(snapshot)
        return self.committed[:limit]

    def analyse(self, task: Task, window: Window | None) -> Analysis:
        """The runner never asks."""
        raise NotImplementedError


class Diary:
    """A listener that writes everything down."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def planned(self, plan: Plan) -> None:
        """Note the plan."""
        self.lines.append(f"planned {len(plan.steps)}")

    def said(self, message: str) -> None:
        """Note the words."""
        self.lines.append(f"said {message}")

    def started(self, step: Step) -> None:
        """Note the step."""
        self.lines.append(f"started {step.task.name} {step.label}")

    def retrying(self, step: Step, error: SetpointError, seconds: float) -> None:
        """Note the wait."""
        self.lines.append(f"retrying {step.task.name} in {seconds:g}: {error.message}")

    def finished(self, result: RunResult) -> None:
        """Note the end."""
        self.lines.append(f"finished {result.step.task.name} {result.state}")


class Stage:
    """A runner over memory, with everything that it touches in reach."""

    def __init__(self) -> None:
        self.engine = MemoryEngine()
        self.ledger = MemoryLedger()
        self.diary = Diary()
        self.waits: list[float] = []
        self.wait_raises: BaseException | None = None
        self.patient = True
        self.lease_seconds = 60.0

    def wait(self, seconds: float) -> None:
        """Note the wait instead of waiting."""
        self.waits.append(seconds)
        if self.wait_raises:
            raise self.wait_raises

    def run(
        self,
        tasks: Iterable[Task],
        dates: Dates | None = None,
        *,
        checksum: bool = False,
        effects: Policy = "usual",
    ) -> tuple[RunResult, ...]:
        """Run tasks for a day of April."""
        plan = make_plan(Graph.of(tasks), select=[], dates=dates or Dates(ds="2026-04-25"))
        runner = Runner(
            engine=self.engine,
            ledger=self.ledger,
            listener=self.diary,
            checksum=checksum,
            effects=effects,
            lease_seconds=self.lease_seconds,
            patient=self.patient,
            wait=self.wait,
            chance=Random(1),
        )
        return runner.run(plan)


@pytest.fixture
def stage() -> Stage:
    """A fresh runner."""
    return Stage()


@pytest.fixture(scope="session")
def make() -> Maker:
    """The maker of tasks; it keeps nothing, so one serves all."""
    return Maker()
