"""One job of a backfill: data first, ledger second, an outcome for each window."""

from __future__ import annotations

import os
import socket
import threading
import time
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from setpoint.backfilling.batching import stretches
from setpoint.backfilling.bisecting import Part, bisected
from setpoint.backfilling.result import WindowResult
from setpoint.engine.protocol import Token
from setpoint.errors import CommitConflict, LeaseHeld, SetpointError, StaleFence
from setpoint.ledger.backfill import Job
from setpoint.ledger.instant import utc_now
from setpoint.ledger.record import Outcome as WindowOutcome
from setpoint.ledger.writer import new_run_id
from setpoint.model.plan import WHOLE_TABLE, Plan, Step
from setpoint.model.window import union
from setpoint.running.runner import Runner, outcome_detail

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from setpoint.engine.protocol import BackfillEngine, Outcome
    from setpoint.ledger.backfill import JobState
    from setpoint.ledger.lease import Lease
    from setpoint.ledger.protocol import Ledger
    from setpoint.ledger.record import Json
    from setpoint.model.effect import Policy
    from setpoint.model.task import Task
    from setpoint.model.window import Window
    from setpoint.running.lease_keeper import Held, LeaseKeeper

# A scheduled run or a compaction may commit in between; setting the windows again is harmless.
CONFLICT_RETRIES = 3


@dataclass(frozen=True, kw_only=True)
class JobEnd:
    """Windows that ended together."""

    windows: tuple[Window | None, ...]
    results: tuple[WindowResult, ...]
    rows: int | None = None
    replaced: int | None = None
    seconds: float | None = None
    error: SetpointError | None = None

    @property
    def state(self) -> str:
        """How they ended."""
        return "failed" if self.error else "succeeded"

    @property
    def label(self) -> str:
        """The windows in words."""
        first, last = self.windows[0], self.windows[-1]
        if first is None or last is None:
            return WHOLE_TABLE
        return first.label if first is last else f"{first.label} … {last.label}"


class Stopped(Exception):
    """The whole backfill stops; no window is to blame."""


@dataclass(kw_only=True)
class BatchRun:
    """Contiguous windows in one Spark job; the ones to blame for a failure are found by halving."""

    engine: BackfillEngine
    ledger: Ledger
    backfill_id: str
    task: Task
    fault: SetpointError | None = None
    """What was wrong with the task before its first job."""
    keeper: LeaseKeeper
    floor: int = 0
    """A fence that the table has seen, if this ledger has never heard of the task."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the whole backfill stops: what fails then is no window's fault."""
    wait: Callable[[float], None] = time.sleep

    def carry_out(self, windows: Sequence[Window | None]) -> list[JobEnd]:
        """Set the windows; faults become failed windows, never exceptions."""
        ends = []
        for first, stop in stretches(windows):
            batch = [window for window in windows[first:stop] if window is not None]
            ends += self._stretch(batch)
        return ends

    def _stretch(self, windows: Sequence[Window]) -> list[JobEnd]:
        """Contiguous windows under one lease, which keeps other runs of them away meanwhile."""
        if self.fault is not None:
            return [self._end(Part(items=windows, error=self.fault))]
        try:
            with self.keeper.holding(self.task, union(windows), at_least=self.floor) as held:
                tries = bisected(windows, lambda these: self._attempt(these, held))
                return [self._end(part) for part in tries]
        except LeaseHeld as error:
            return [_failed_end(self.task, windows, error)]

    def _attempt(self, windows: Sequence[Window], held: Held) -> tuple[Job, Outcome]:
        if self.stopping.is_set():
            raise Stopped
        failures = 0
        while True:
            job = self._begin(windows)
            begun = time.monotonic()
            try:
                token = Token(run_id=job.job_id, fence=job.fence)
                with held.stopping(partial(self.engine.cancel, token)):
                    outcome = self.engine.carry_out_batch(self.task, windows, token)
            except BaseException as error:
                ended = replace(job, seconds=time.monotonic() - begun, error=_words(error))
                self._put(ended, "failed")
                failures += 1
                if self.stopping.is_set():
                    raise Stopped from error
                if not isinstance(error, SetpointError) or not self._again(error, failures):
                    raise
                self.wait(self.task.retry.backoff.delay(failures, Random()))  # noqa: S311
                continue
            took = time.monotonic() - begun
            try:
                return self._done(job, windows, outcome, seconds=took, held=held), outcome
            except StaleFence as error:
                self._put(replace(job, seconds=took, error=_words(error)), "lost")
                raise

    def _again(self, error: SetpointError, failures: int) -> bool:
        if isinstance(error, CommitConflict):
            return failures <= CONFLICT_RETRIES
        return self.task.retry.another(failures=failures, transient=error.transient)

    def _begin(self, windows: Sequence[Window]) -> Job:
        job = Job(
            job_id=new_run_id(),
            backfill_id=self.backfill_id,
            task=self.task.name,
            window_start=windows[0].start,
            window_end=windows[-1].end,
            windows=len(windows),
            fence=self.ledger.take_fence(),
            started_at=utc_now(),
        )
        # Before the write: after a crash this id is looked for in the table's history.
        self.ledger.backfills.put_job(job)
        return job

    def _done(
        self, job: Job, windows: Sequence[Window], outcome: Outcome, *, seconds: float, held: Held
    ) -> Job:
        ended = replace(
            job,
            rows_written=outcome.rows,
            bytes_read=outcome.bytes_read,
            bytes_written=outcome.bytes_written,
            seconds=seconds,
        )
        record(self.ledger, ended, self.task, windows, outcome, lease=held.lease)
        self._put(ended, "succeeded")
        return ended

    def _put(self, job: Job, state: JobState) -> None:
        self.ledger.backfills.put_job(replace(job, state=state, finished_at=utc_now()))

    def _end(self, part: Part[Window, tuple[Job, Outcome]]) -> JobEnd:
        windows = tuple(part.items)
        if part.found is not None:
            job, outcome = part.found
            return JobEnd(
                windows=windows,
                results=tuple(
                    WindowResult(
                        task=self.task.name,
                        window=count.window,
                        state="succeeded",
                        rows=count.rows,
                        replaced=count.replaced,
                        job=job.job_id,
                    )
                    for count in outcome.windows
                ),
                rows=outcome.rows,
                replaced=outcome.replaced,
                seconds=job.seconds,
            )
        error = part.error or SetpointError("nothing came of it")
        if isinstance(error, StaleFence):
            # The windows belong to another process now: their record is not ours to write.
            return _failed_end(self.task, windows, error)
        self.ledger.record_many(
            [
                WindowOutcome(
                    task=self.task.name,
                    window_start=window.start,
                    window_end=window.end,
                    target=str(self.task.target),
                    fingerprint=self.task.fingerprint,
                    state="failed",
                    error=error.message,
                    error_kind=type(error).__name__,
                    detail={"backfill": self.backfill_id},
                )
                for window in windows
            ],
            pid=os.getpid(),
            host=socket.gethostname(),
        )
        return _failed_end(self.task, windows, error)


@dataclass(kw_only=True)
class SingleRun:
    """One job a window, by the same runner as `setpoint run`."""

    engine: BackfillEngine
    ledger: Ledger
    backfill_id: str
    task: Task
    fault: SetpointError | None = None
    keeper: LeaseKeeper
    floor: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)
    effects: Policy = "skip"

    def carry_out(self, windows: Sequence[Window | None]) -> list[JobEnd]:
        """Set the windows one after the other."""
        return [self._one(window) for window in windows if not self.stopping.is_set()]

    def _one(self, window: Window | None) -> JobEnd:
        if self.fault is not None:
            return _failed_end(self.task, (window,), self.fault)
        fence, started = self.ledger.take_fence(), utc_now()
        runner = Runner(
            engine=self.engine,
            ledger=self.ledger,
            lease_seconds=self.keeper.seconds,
            wait=self.keeper.wait,
            marks={"backfill": self.backfill_id},
            effects=self.effects,
        )
        (result,) = runner.run(Plan(steps=(Step(task=self.task, window=window),)))
        good = result.state == "succeeded"
        self.ledger.backfills.put_job(
            Job(
                job_id=result.run_id or new_run_id(),
                backfill_id=self.backfill_id,
                task=self.task.name,
                window_start=window.start if window else None,
                window_end=window.end if window else None,
                windows=1,
                fence=fence,
                state="succeeded" if good else "failed",
                rows_written=result.rows,
                seconds=result.seconds,
                error=result.error.message if result.error else None,
                started_at=started,
                finished_at=utc_now(),
            )
        )
        if not good:
            return _failed_end(self.task, (window,), result.error or SetpointError(result.state))
        found = WindowResult(
            task=self.task.name,
            window=window,
            state="succeeded",
            rows=result.rows,
            replaced=result.replaced,
            job=result.run_id,
        )
        return JobEnd(
            windows=(window,),
            results=(found,),
            rows=result.rows,
            replaced=result.replaced,
            seconds=result.seconds,
        )


def record(
    ledger: Ledger,
    job: Job,
    task: Task,
    windows: Sequence[Window],
    outcome: Outcome,
    *,
    lease: Lease | None = None,
    adopted: bool = False,
) -> None:
    """Record each window of a job that committed: a run of its own, with its own rows."""
    detail = outcome_detail(replace(outcome, partitions={}))
    share = None if job.seconds is None else job.seconds / len(windows)
    wanted = set(windows)
    marks: dict[str, Json] = {"backfill": job.backfill_id, "job": job.job_id}
    if adopted:
        marks["adopted"] = True
    ledger.record_many(
        [
            WindowOutcome(
                task=task.name,
                window_start=count.window.start,
                window_end=count.window.end,
                target=str(task.target),
                fingerprint=task.fingerprint,
                state="succeeded",
                rows=count.rows,
                snapshot=outcome.snapshot,
                seconds=share,
                detail={**detail, **marks, "replaced": count.replaced},
            )
            for count in outcome.windows
            if count.window in wanted
        ],
        pid=os.getpid(),
        host=socket.gethostname(),
        lease=lease,
    )


def adopt(
    ledger: Ledger, job: Job, task: Task, windows: Sequence[Window], outcome: Outcome
) -> None:
    """Record a commit whose process died before the ledger heard of it."""
    record(ledger, job, task, windows, outcome, adopted=True)
    ended = replace(job, rows_written=outcome.rows, bytes_written=outcome.bytes_written)
    ledger.backfills.put_job(replace(ended, state="adopted", finished_at=utc_now()))


def _failed_end(task: Task, windows: Sequence[Window | None], error: SetpointError) -> JobEnd:
    results = tuple(
        WindowResult(task=task.name, window=window, state="failed", error=error.message)
        for window in windows
    )
    return JobEnd(windows=tuple(windows), results=results, error=error)


def _words(error: BaseException) -> str:
    return error.message if isinstance(error, SetpointError) else f"interrupted: {error!r}"


def lost_windows(job: Job, task: Task) -> list[Window]:
    """The windows that a job was to set."""
    if task.grain is None or job.window_start is None or job.window_end is None:
        return []
    windows = list(task.grain.windows(job.window_start, job.window_end))
    span = union(windows)
    whole = (span.start, span.end) == (job.window_start, job.window_end)
    return windows if whole else []
