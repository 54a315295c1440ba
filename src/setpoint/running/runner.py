"""Carrying out a plan: data first, ledger second, one attempt after another."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from setpoint.effects.recording import EffectDesk
from setpoint.engine.protocol import Token
from setpoint.errors import (
    CommitConflict,
    LeaseHeld,
    LedgerError,
    RunError,
    SetpointError,
    StaleFence,
)
from setpoint.failpoint import failpoint
from setpoint.model.dependence import reads
from setpoint.running.lease_keeper import LEASE_SECONDS, LeaseKeeper
from setpoint.running.listener import Listener, Silence
from setpoint.running.result import RunResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from setpoint.engine.protocol import Engine, Outcome
    from setpoint.ledger.protocol import Ledger
    from setpoint.ledger.record import Json, Started
    from setpoint.model.effect import Policy
    from setpoint.model.plan import Plan, Step
    from setpoint.running.lease_keeper import Held


class Runner:
    """Runs the steps of a plan in order; what depends on a failed one is skipped."""

    def __init__(
        self,
        *,
        engine: Engine,
        ledger: Ledger,
        listener: Listener | None = None,
        checksum: bool = False,
        effects: Policy = "skip",
        lease_seconds: float = LEASE_SECONDS,
        patient: bool = True,
        wait: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        chance: Random | None = None,
        marks: Mapping[str, Json] | None = None,
    ) -> None:
        self.engine = engine
        self.ledger = ledger
        self.listener = listener or Silence()
        self.checksum = checksum
        self.lease_seconds = lease_seconds
        self.patient = patient
        self.wait = wait
        self.marks = dict(marks or {})
        self.clock = clock
        # Nothing is sent unless whoever runs the plan says so: trials and backfills do not.
        self.effects = EffectDesk(
            engine=engine, outbox=ledger.outbox, policy=effects, say=self.listener.said
        )
        self.chance = chance or Random()  # noqa: S311 — spreads retries, guards nothing

    def run(self, plan: Plan) -> tuple[RunResult, ...]:
        """Carry out every step; the results in the plan's order."""
        results: list[RunResult] = []
        failed: list[Step] = []
        with LeaseKeeper(
            self.ledger,
            seconds=self.lease_seconds,
            patient=self.patient,
            say=self.listener.said,
            wait=self.wait,
            clock=self.clock,
        ) as keeper:
            for step in plan.steps:
                cause = next((each for each in failed if _rests_on(step, each)), None)
                if cause:
                    error = SetpointError(f"not run: {cause.task.name} did not succeed")
                    result = RunResult(step=step, state="skipped", error=error)
                else:
                    self.listener.started(step)
                    result = self._with_effects(self._run_step(step, keeper))
                if result.state != "succeeded":
                    failed.append(step)
                self.listener.finished(result)
                results.append(result)
        return tuple(results)

    def _with_effects(self, result: RunResult) -> RunResult:
        """Send what the step recorded. Its data and its record are safe by now."""
        recorded = result.effects
        if recorded is None:
            return result
        try:
            sent, waiting = self.effects.send(result.step.task)
        except SetpointError as error:
            told = f"effects could not be sent: {error.message}; next: setpoint effects send"
            return replace(result, warnings=(*result.warnings, told))
        effects = replace(recorded, sent=sent, waiting=waiting)
        return replace(result, effects=effects, warnings=(*result.warnings, *effects.warnings()))

    def _run_step(self, step: Step, keeper: LeaseKeeper) -> RunResult:
        failpoint("lease.before")
        try:
            with keeper.holding(step.task, step.window, at_least=self._floor(step)) as held:
                failpoint("lease.after")
                return self._run_held(step, held)
        except (LeaseHeld, StaleFence) as error:
            return RunResult(step=step, state="failed", error=error)

    def _floor(self, step: Step) -> int:
        """A fence that the table has seen, if this ledger has never heard of the task."""
        if self.ledger.runs(step.task.name, limit=1):
            return 0
        try:
            return self.engine.highest_fence(step.task)
        except RunError:
            # The attempt will meet the same fault, and has retries and a record of its own. If it
            # has passed by then, a fence that is too low is refused, never obeyed.
            return 0

    def _run_held(self, step: Step, held: Held) -> RunResult:
        window, lease = step.window, held.lease
        failpoint("ledger.begin.before")
        started = self.ledger.begin(
            step.task.name,
            window.start if window else None,
            window.end if window else None,
            target=str(step.task.target),
            fingerprint=step.task.fingerprint,
            pid=lease.pid,
            host=lease.host,
            lease=lease,
        )
        failpoint("ledger.begin.after")
        failures = 0
        while True:
            begun = time.monotonic()
            try:
                return self._attempt(step, started, begun, held)
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
                pause = step.task.retry.backoff.delay(failures, self.chance)
                started = self._again(step, started, error, seconds=seconds, pause=pause, held=held)
            except BaseException as error:
                self.engine.cancel(_token(started))
                self._interrupted(started, error)
                raise

    def _again(
        self,
        step: Step,
        started: Started,
        error: SetpointError,
        *,
        seconds: float,
        pause: float,
        held: Held,
    ) -> Started:
        """Record the failed attempt, open the next one and wait for its turn."""
        failpoint("ledger.retry.before")
        following = self.ledger.retry(
            started.run_id,
            started.fence,
            error=error.message,
            error_kind=type(error).__name__,
            seconds=seconds,
            lease=held.lease,
        )
        failpoint("ledger.retry.after")
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

    def _attempt(self, step: Step, started: Started, begun: float, held: Held) -> RunResult:
        task, window, token = step.task, step.window, _token(started)
        # An attempt before this one may have died between its commit and the ledger.
        failpoint("adopt.before")
        found = self._committed(step, started)
        failpoint("adopt.after")
        if found is None:
            try:
                with held.stopping(lambda: self.engine.cancel(token)):
                    outcome = self.engine.carry_out(task, window, token, as_of=step.as_of)
            except CommitConflict:
                # Nor need it have died: it may have committed after we looked.
                found = self._committed(step, started)
                if found is None:
                    raise
        outcome = found or outcome
        checksum = None
        if self.checksum:
            failpoint("checksum.before")
            checksum = self.engine.checksum(task, window, outcome.snapshot)
            failpoint("checksum.after")
        # Before the run is marked done: if it dies here, the next attempt adopts and records.
        effects = None
        if task.effects:
            effects = self.effects.record(step, outcome.snapshot, started.run_id)
        failpoint("ledger.succeed.before")
        run = self.ledger.succeed(
            started.run_id,
            started.fence,
            rows=outcome.rows,
            snapshot=outcome.snapshot,
            checksum=checksum,
            seconds=time.monotonic() - begun,
            detail={**outcome_detail(outcome), **self.marks},
            adopted=found is not None,
            lease=held.lease,
        )
        failpoint("ledger.succeed.after")
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
            effects=effects,
            adopted=found is not None,
        )

    def _committed(self, step: Step, started: Started) -> Outcome | None:
        """What an earlier attempt of this run committed, if a run now would do the same."""
        if not started.continues:
            return None
        return self.engine.find_commit(step.task, started.run_id, as_of=step.as_of)

    def _failed(
        self, step: Step, started: Started, error: SetpointError, seconds: float
    ) -> RunResult:
        failpoint("ledger.fail.before")
        run = self.ledger.fail(
            started.run_id,
            started.fence,
            error=error.message,
            error_kind=type(error).__name__,
            seconds=seconds,
        )
        failpoint("ledger.fail.after")
        return RunResult(
            step=step,
            state="failed",
            attempts=run.attempts,
            run_id=run.run_id,
            seconds=run.seconds,
            error=error,
        )


def _rests_on(step: Step, failed: Step) -> bool:
    """Whether a step reads what a step that did not succeed was to write."""
    return failed.task.name in step.depends_on and reads(
        step.task, step.window, failed.task, failed.window
    )


def _token(started: Started) -> Token:
    return Token(run_id=started.run_id, fence=started.fence)


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
