"""Carrying out a plan: data first, ledger second, one attempt after another."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from random import Random
from typing import TYPE_CHECKING

from setpoint.engine.protocol import Token
from setpoint.errors import LedgerError, SetpointError, StaleFence
from setpoint.running.listener import Listener, Silence
from setpoint.running.result import RunResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from setpoint.engine.protocol import Engine, Outcome
    from setpoint.ledger.protocol import Ledger
    from setpoint.ledger.record import Json, Started
    from setpoint.model.plan import Plan, Step


class Runner:
    """Runs the steps of a plan in order; what depends on a failed one is skipped."""

    def __init__(
        self,
        *,
        engine: Engine,
        ledger: Ledger,
        listener: Listener | None = None,
        checksum: bool = False,
        wait: Callable[[float], None] = time.sleep,
        chance: Random | None = None,
        marks: Mapping[str, Json] | None = None,
    ) -> None:
        self.engine = engine
        self.ledger = ledger
        self.listener = listener or Silence()
        self.checksum = checksum
        self.wait = wait
        self.marks = dict(marks or {})
        self.chance = chance or Random()  # noqa: S311 — spreads retries, guards nothing

    def run(self, plan: Plan) -> tuple[RunResult, ...]:
        """Carry out every step; the results in the plan's order."""
        results: list[RunResult] = []
        broken: set[str] = set()
        for step in plan.steps:
            cause = next((name for name in step.depends_on if name in broken), None)
            if cause:
                error = SetpointError(f"not run: {cause} did not succeed")
                result = RunResult(step=step, state="skipped", error=error)
            else:
                self.listener.started(step)
                result = self._run_step(step)
            if result.state != "succeeded":
                broken.add(step.task.name)
            self.listener.finished(result)
            results.append(result)
        return tuple(results)

    def _run_step(self, step: Step) -> RunResult:
        window = step.window
        started = self.ledger.begin(
            step.task.name,
            window.start if window else None,
            window.end if window else None,
            target=str(step.task.target),
            fingerprint=step.task.fingerprint,
            pid=os.getpid(),
            host=socket.gethostname(),
        )
        failures = 0
        while True:
            begun = time.monotonic()
            try:
                return self._attempt(step, started, begun)
            except StaleFence as error:
                # The run belongs to a newer attempt now: its record is not ours to end.
                return RunResult(
                    step=step,
                    state="failed",
                    attempts=started.number,
                    run_id=started.run_id,
                    error=error,
                )
            except SetpointError as error:
                failures += 1
                seconds = time.monotonic() - begun
                if not step.task.retry.another(failures=failures, transient=error.transient):
                    return self._failed(step, started, error, seconds)
                started = self._again(step, started, error, seconds, failures)
            except BaseException as error:
                self._interrupted(started, error)
                raise

    def _again(
        self, step: Step, started: Started, error: SetpointError, seconds: float, failures: int
    ) -> Started:
        """Record the failed attempt, open the next one and wait for its turn."""
        pause = step.task.retry.backoff.delay(failures, self.chance)
        following = self.ledger.retry(
            started.run_id,
            started.fence,
            error=error.message,
            error_kind=type(error).__name__,
            seconds=seconds,
        )
        try:
            self.listener.retrying(step, error, pause)
            self.wait(pause)
        except BaseException as stop:
            self._interrupted(following, stop)
            raise
        return following

    def _interrupted(self, started: Started, error: BaseException) -> None:
        """Ctrl-C and faults of Setpoint itself: leave no run open that nobody works on."""
        # What stopped the run is what the person must see, also when the ledger is out of reach.
        with contextlib.suppress(LedgerError):
            self.ledger.fail(
                started.run_id,
                started.fence,
                error=f"interrupted: {type(error).__name__}",
                error_kind=type(error).__name__,
            )

    def _attempt(self, step: Step, started: Started, begun: float) -> RunResult:
        task, window = step.task, step.window
        # An attempt before this one may have died between its commit and the ledger.
        found = self.engine.find_commit(task, started.run_id) if started.continues else None
        outcome = found or self.engine.carry_out(
            task,
            window,
            Token(run_id=started.run_id, fence=started.fence),
            as_of=step.as_of,
        )
        checksum = None
        if self.checksum:
            checksum = self.engine.checksum(task, window, outcome.snapshot)
        run = self.ledger.succeed(
            started.run_id,
            started.fence,
            rows=outcome.rows,
            snapshot=outcome.snapshot,
            checksum=checksum,
            seconds=time.monotonic() - begun,
            detail={**outcome_detail(outcome), **self.marks},
            adopted=found is not None,
        )
        return RunResult(
            step=step,
            state="succeeded",
            attempts=run.attempts,
            rows=run.rows,
            replaced=outcome.replaced,
            checksum=checksum,
            run_id=run.run_id,
            snapshot=run.snapshot,
            seconds=run.seconds,
            warnings=outcome.warnings,
            adopted=found is not None,
        )

    def _failed(
        self, step: Step, started: Started, error: SetpointError, seconds: float
    ) -> RunResult:
        run = self.ledger.fail(
            started.run_id,
            started.fence,
            error=error.message,
            error_kind=type(error).__name__,
            seconds=seconds,
        )
        return RunResult(
            step=step,
            state="failed",
            attempts=run.attempts,
            run_id=run.run_id,
            seconds=run.seconds,
            error=error,
        )


def outcome_detail(outcome: Outcome) -> dict[str, Json]:
    """What the ledger keeps of an outcome besides its figures."""
    return {
        "replaced": outcome.replaced,
        "inputs": dict(outcome.inputs),
        "kinds": outcome.kinds.document(),
        "partitions": dict(outcome.partitions),
        "warnings": list(outcome.warnings),
        "late": {
            name: {"rows": late.rows, "samples": list(late.samples)}
            for name, late in outcome.late.items()
        },
    }
