"""Carrying out the plan of a backfill: a sliding pool of jobs, each window with its outcome."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from setpoint.backfilling.job import BatchRun, SingleRun, Stopped
from setpoint.backfilling.plan import one_by_one
from setpoint.backfilling.progress import BackfillListener, JobReport, Progress, Quiet
from setpoint.backfilling.result import WindowResult
from setpoint.backfilling.schedule import Schedule
from setpoint.backfilling.separable import judge, probe_pairs
from setpoint.backfilling.shadowing import original_name
from setpoint.backfilling.throttle import Throttle
from setpoint.errors import LedgerError, SetpointError
from setpoint.model.window import union
from setpoint.running.lease_keeper import LeaseKeeper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from setpoint.backfilling.job import JobEnd
    from setpoint.backfilling.plan import BackfillPlan, TaskPlan
    from setpoint.backfilling.schedule import Item
    from setpoint.engine.protocol import BackfillEngine
    from setpoint.ledger.backfill import Backfill, BackfillState, Wish
    from setpoint.ledger.protocol import Ledger
    from setpoint.model.settings import Settings
    from setpoint.model.window import Window

# How often the ledger hears that this process lives, and the process what a person wants.
BEAT_SECONDS = 2.0
DEFAULT_ACTIVE_RUNS = 2
ENDED_BY: dict[str, BackfillState] = {"pause": "paused", "cancel": "cancelled"}


@dataclass
class _Running:
    item: Item
    blocked: dict[Window | None, str]


class Execution:
    """One process's work on a backfill."""

    def __init__(
        self,
        *,
        plan: BackfillPlan,
        record: Backfill,
        engine: BackfillEngine,
        ledger: Ledger,
        settings: Settings,
        listener: BackfillListener | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.plan = plan
        self.record = record
        self.engine = engine
        self.ledger = ledger
        self.listener = listener or Quiet()
        self.clock = clock
        self.workers = plan.request.max_active_runs or DEFAULT_ACTIVE_RUNS
        pool = settings.pools.get(plan.request.pool or "")
        self.scheduler = pool.scheduler if pool else None
        self.throttle = Throttle(
            ledger.backfills,
            settings,
            pool=plan.request.pool,
            holder=f"{socket.gethostname()}:{os.getpid()}:{record.backfill_id}",
        )
        self.keeper = LeaseKeeper(
            ledger, seconds=settings.lease_seconds, say=self.listener.said, wait=self._pause
        )
        self.results: list[WindowResult] = []
        self.progress = Progress(total=plan.windows)
        self._opened: dict[str, SetpointError | None] = {}
        self._schedule = Schedule(plan)
        self._waiting: Item | None = None
        """The job that is next, and has to wait for room."""
        self._stopping = threading.Event()
        self._floors: dict[str, int] = {}
        self._wish: Wish = "run"
        self._begun = clock()
        self._beaten = float("-inf")

    def run(self) -> BackfillState:
        """Carry out every job; a person may pause or cancel it meanwhile."""
        engines: queue.SimpleQueue[BackfillEngine] = queue.SimpleQueue()
        twins = [self.engine, *(self.engine.twin() for _ in range(self.workers - 1))]
        for engine in twins:
            engines.put(engine)
        running: dict[Future[list[JobEnd]], _Running] = {}
        self._begun = self.clock()
        self.listener.began(self.record.backfill_id, self.plan)
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="backfill")
        try:
            while not self._schedule.over:
                self._beat()
                self._fill(pool, engines, running)
                if running:
                    self._collect(running)
                elif self._wish != "run":
                    break
                else:
                    time.sleep(self.throttle.pause)
        except BaseException:
            # Ctrl-C reaches this thread alone; the others wait for Spark.
            self._stopping.set()
            for engine in twins:
                with contextlib.suppress(Exception):
                    engine.stop_jobs()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            self.keeper.close()
            self.throttle.close()
            self.listener.over()
        if not self._schedule.over:
            return ENDED_BY[self._wish]
        return "failed" if self.progress.failed or self.progress.blocked else "succeeded"

    def _fill(
        self,
        pool: ThreadPoolExecutor,
        engines: queue.SimpleQueue[BackfillEngine],
        running: dict[Future[list[JobEnd]], _Running],
    ) -> None:
        """Begin jobs while there is room for them."""
        while self._wish == "run" and len(running) < self.workers:
            item = self._waiting or self._schedule.take()
            self._waiting = item
            if item is None:
                return
            plan = item.plan
            if plan.task.name not in self._opened:
                # Opening moves Python's clock for a moment, which is one for all threads.
                if running:
                    return
                if self._open(plan):
                    continue
            if not self.throttle.admit(plan.task):
                return
            self._waiting = None
            blocked = self._schedule.blocked(item)
            windows = tuple(window for window in item.windows if window not in blocked)
            self.progress = self.progress.began(len(item.windows))
            future = pool.submit(self._work, plan, windows, engines)
            running[future] = _Running(item=item, blocked=blocked)

    def _collect(self, running: dict[Future[list[JobEnd]], _Running]) -> None:
        done, _ = wait(running, timeout=BEAT_SECONDS, return_when=FIRST_COMPLETED)
        self._show()
        for future in done:
            kept = running.pop(future)
            self.throttle.release(kept.item.plan.task)
            ends = future.result()
            self._note(kept, ends)
            bad = [w for end in ends if end.error for w in end.windows]
            self._schedule.ended(kept.item, [*bad, *kept.blocked])
            self._show()

    def _work(
        self,
        plan: TaskPlan,
        windows: tuple[Window | None, ...],
        engines: queue.SimpleQueue[BackfillEngine],
    ) -> list[JobEnd]:
        engine = engines.get()
        try:
            if self.scheduler is not None:
                engine.use_scheduler(self.scheduler)
            single = partial(SingleRun, effects=self.plan.request.effects)
            run = (BatchRun if plan.coalescing.possible else single)(
                engine=engine,
                ledger=self.ledger,
                backfill_id=self.record.backfill_id,
                task=plan.task,
                fault=self._opened[plan.task.name],
                keeper=self.keeper,
                floor=self._floors.get(plan.task.name, 0),
                stopping=self._stopping,
            )
            return run.carry_out(windows)
        finally:
            engines.put(engine)

    def _open(self, plan: TaskPlan) -> bool:
        """Before a task's first job: hidden inputs, and whether its windows are separable.

        True when they are not, and the plan has one job for each of them now.
        """
        task = plan.task
        self._opened[task.name] = None
        try:
            self.engine.inspect(task, plan.windows[0])
            if not self.ledger.runs(task.name, limit=1):
                self._floors[task.name] = self.engine.highest_fence(task)
            with self._beating():
                separable = not plan.coalescing.probe or self._probe(plan)
        except SetpointError as error:
            self._opened[task.name] = error
            return False
        if not separable:
            self.plan = one_by_one(self.plan, task.name)
            self._schedule = self._schedule.replanned(self.plan)
            self._waiting = None
        return not separable

    def _probe(self, plan: TaskPlan) -> bool:
        windows = [window for window in plan.windows if window]
        pairs = probe_pairs(windows)
        if pairs:
            self.listener.said(f"{plan.task.name}: are its windows separable?")
        for pair in pairs:
            alone = [self.engine.result_checksum(plan.task, window) for window in pair]
            together = self.engine.result_checksum(plan.task, union(pair))
            verdict = judge(plan.task, pair, alone, together)
            if verdict is None:
                continue
            # What holds for a task holds for its shadow, which has the same code.
            name = original_name(plan.task.name, self.record.backfill_id)
            self.ledger.backfills.put_separability(replace(verdict, task=name))
            self.listener.said(f"{plan.task.name}: {verdict.evidence}")
            return verdict.separable
        if pairs:
            self.listener.said(f"{plan.task.name}: no two windows with rows to tell by; one by one")
        return not pairs

    def _note(self, kept: _Running, ends: list[JobEnd]) -> None:
        task = kept.item.plan.task.name
        for end in ends:
            self.results += end.results
            self.listener.reported(
                JobReport(
                    task=task,
                    label=end.label,
                    windows=len(end.windows),
                    state=end.state,
                    rows=end.rows,
                    replaced=end.replaced,
                    seconds=end.seconds,
                    error=end.error,
                )
            )
        for window, cause in kept.blocked.items():
            why = f"not run: {cause} did not succeed"
            self.results.append(WindowResult(task=task, window=window, state="blocked", error=why))
        states = [result.state for end in ends for result in end.results]
        self.progress = self.progress.ended_job(
            windows=len(kept.item.windows),
            done=states.count("succeeded"),
            failed=states.count("failed"),
            blocked=len(kept.blocked),
            rows=sum(end.rows or 0 for end in ends),
        )

    def _pause(self, seconds: float) -> None:
        """Wait for a lease, but not when the whole backfill stops."""
        if self._stopping.wait(seconds):
            raise Stopped

    def _show(self) -> None:
        self.progress = replace(self.progress, seconds=self.clock() - self._begun)
        self.listener.progressed(self.progress)

    @contextlib.contextmanager
    def _beating(self) -> Iterator[None]:
        """Go on saying that this process lives while its main thread is busy."""
        over = threading.Event()

        def beat() -> None:
            while not over.wait(BEAT_SECONDS):
                self._beat()

        heart = threading.Thread(target=beat, name="setpoint-backfill", daemon=True)
        heart.start()
        try:
            yield
        finally:
            over.set()
            heart.join()

    def _beat(self) -> None:
        """Say that this process lives, and hear what a person wants of it."""
        if self.clock() - self._beaten < BEAT_SECONDS:
            return
        self._beaten = self.clock()
        # A ledger out of reach for a moment stops no job; recording one will say so.
        with contextlib.suppress(LedgerError):
            self._wish = self.ledger.backfills.seen(self.record.backfill_id)
            self.throttle.keep()
