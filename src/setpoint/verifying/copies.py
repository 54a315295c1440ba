"""Copies of a task whose target is a scratch table: the live one is never touched."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from setpoint.engine.protocol import Token
from setpoint.engine.spark.trial_engine import Died
from setpoint.errors import RunError, SetpointError
from setpoint.ledger.memory import MemoryLedger
from setpoint.model.hidden_input import Allow
from setpoint.model.plan import Plan, Step
from setpoint.model.retry import Retry
from setpoint.model.table import TableName
from setpoint.running.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from setpoint.engine.spark.trial_engine import Death, TrialEngine
    from setpoint.model.task import Task
    from setpoint.model.window import Window
    from setpoint.running.result import RunResult

NAMESPACE = "setpoint_verify"


@dataclass(kw_only=True)
class Copy:
    """A task that writes to a table of its own, with a ledger of its own."""

    task: Task
    engine: TrialEngine
    as_of: Mapping[str, str] | None
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    ran: set[Window | None] = field(default_factory=set)
    """The windows that ran on it: their effects have been recorded."""
    sets: list[Window | None] = field(default_factory=list)
    """The windows that were set, in order, each as often as it was."""
    begun: int = 0
    """How many runs were begun on it."""


class Copies:
    """Makes copies of a task, runs them, and drops their tables at the end."""

    def __init__(
        self,
        engine: TrialEngine,
        task: Task,
        *,
        allow: Iterable[str] = (),
        as_of: Mapping[str, str] | None = None,
    ) -> None:
        self.engine = engine
        self.said_again: list[str] = []
        """Effects that a later run of a window would have sent besides those of its first."""
        self._task = replace(
            task,
            # What the plan was found to depend on is judged by what it does to the rows.
            allow=tuple(Allow(name, "verified") for name in {*allow, "python"}),
            retry=Retry(),
        )
        self._as_of = as_of
        self._made: list[Copy] = []

    @property
    def runs(self) -> int:
        """How many runs were begun on all copies."""
        return sum(copy.begun for copy in self._made)

    def copy(self, *, beside: bool = False) -> Copy:
        """A new copy, empty until its first run makes its table; one of them for another thread."""
        target = self._task.target
        name = f"{target.parts[-1][:30]}_{secrets.token_hex(4)}"
        table = TableName((target.catalog, NAMESPACE, name))
        engine = self.engine.second() if beside else self.engine
        copy = Copy(task=replace(self._task, target=table), engine=engine, as_of=self._as_of)
        self._made.append(copy)
        return copy

    def run(self, copy: Copy, window: Window | None) -> RunResult:
        """Run a copy as a task is run, from the ledger's first word to its last."""
        copy.begun += 1
        step = Step(task=copy.task, window=window, as_of=copy.as_of)
        # What the task has to say is recorded in the copy's own outbox, and sent to nobody.
        runner = Runner(engine=copy.engine, ledger=copy.ledger, effects="record")
        (result,) = runner.run(Plan(steps=(step,)))
        if result.error is not None:
            raise result.error
        if result.effects is not None and window in copy.ran:
            new = [offer for offer in result.effects.offers if offer.outcome == "recorded"]
            self.said_again += [f"effect {offer.effect}" for offer in new]
        copy.ran.add(window)
        if not result.adopted:
            copy.sets.append(window)
        return result

    def die(self, copy: Copy, window: Window | None, death: Death) -> None:
        """Begin a run and stop it, as a kill would: the ledger hears no more of it."""
        copy.begun += 1
        started = copy.ledger.begin(
            copy.task.name,
            window.start if window else None,
            window.end if window else None,
            target=str(copy.task.target),
            fingerprint=copy.task.fingerprint,
            pid=os.getpid(),
            host=socket.gethostname(),
        )
        try:
            with copy.engine.dying(death):
                token = Token(run_id=started.run_id, fence=started.fence)
                copy.engine.carry_out(copy.task, window, token, as_of=copy.as_of)
        except Died:
            if death == "after the commit":
                copy.sets.append(window)
        except RunError:
            if death != "while writing":
                raise

    def drop(self) -> None:
        """Drop every copy; one that cannot be dropped does not keep the others."""
        failed: SetpointError | None = None
        for copy in self._made:
            try:
                self.engine.drop(copy.task.target)
            except SetpointError as error:
                failed = error
        if failed is not None:
            raise failed
