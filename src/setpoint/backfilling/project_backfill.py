"""Backfilling a project's tasks: the one way in, for the command line and for Python."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.backfilling.cost import usage
from setpoint.backfilling.execution import Execution
from setpoint.backfilling.job import adopt, lost_windows
from setpoint.backfilling.preparing import prepare
from setpoint.backfilling.progress import BackfillListener, Quiet
from setpoint.backfilling.request import Effects, Only, Reprocess, Request
from setpoint.backfilling.result import BackfillResult
from setpoint.backfilling.shadowing import shadow_plan
from setpoint.errors import LedgerError
from setpoint.ledger.backfill import Backfill, TaskRange
from setpoint.ledger.holder import this_process
from setpoint.ledger.instant import utc_now
from setpoint.ledger.opening import open_ledger
from setpoint.ledger.writer import new_run_id
from setpoint.running.loading import open_project
from setpoint.running.project_run import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from setpoint.backfilling.plan import BackfillPlan
    from setpoint.backfilling.result import WindowResult
    from setpoint.engine.protocol import BackfillEngine, SourceChange
    from setpoint.ledger.protocol import Ledger
    from setpoint.model.settings import Settings
    from setpoint.model.task import BoundSource
    from setpoint.project.project import Project

    Changes = Callable[[BoundSource], list[SourceChange] | None]


def backfill(
    *tasks: str,
    start: str,
    end: str,
    folder: Path | str = ".",
    with_upstream: bool = False,
    with_downstream: bool = False,
    run_backwards: bool = False,
    max_active_runs: int | None = None,
    pool: str | None = None,
    batch_size: int | None = None,
    reprocess_behavior: Reprocess | None = None,
    only: Sequence[Only] = (),
    shadow: bool = False,
    effects: Effects = "skip",
    tags: Mapping[str, str] | None = None,
    requested_by: str | None = None,
    reason: str | None = None,
    dry_run: bool = False,
    listener: BackfillListener | None = None,
) -> BackfillResult:
    """Set a range of windows again; the plan first, then what came of it, both as data.

    Args:
        tasks: Names of tasks.
        start: The first instant of the range.
        end: The end of the range, exclusive.
        folder: The project's folder, or one inside it.
        with_upstream: Also set all that the tasks read, before them.
        with_downstream: Also set all that reads them, after them.
        run_backwards: Newest windows first.
        max_active_runs: How many Spark jobs run at once.
        pool: A pool of setpoint.toml, whose limit all processes share.
        batch_size: The most windows that one job sets.
        reprocess_behavior: `none` runs windows that never ran, `failed` also those that failed
            (the default), `completed` all of them.
        only: Run just the windows that are `missing`, `failed` or `stale`.
        shadow: Write the range aside, to be compared and published.
        effects: `skip` the messages of the windows (noted, the default), `send` them, or
            `record` them for `setpoint effects send`.
        tags: What to attribute the cost to.
        requested_by: Who asks for it.
        reason: Why.
        dry_run: Make the plan, and stop.
        listener: Told of each thing as it happens.
    """
    request = Request(
        tasks=tasks,
        start=start,
        end=end,
        with_upstream=with_upstream,
        with_downstream=with_downstream,
        backwards=run_backwards,
        max_active_runs=max_active_runs,
        pool=pool,
        batch_size=batch_size,
        reprocess=reprocess_behavior,
        only=tuple(only),
        shadow=shadow,
        effects=effects,
        tags=tags or {},
        requested_by=requested_by,
        reason=reason,
    )
    return backfill_project(open_project(Path(folder)), request, dry_run=dry_run, listener=listener)


def backfill_project(
    project: Project,
    request: Request,
    *,
    dry_run: bool = False,
    listener: BackfillListener | None = None,
    engine: Callable[[], BackfillEngine] | None = None,
    ledger: Ledger | None = None,
) -> BackfillResult:
    """Plan a backfill of a loaded project and carry it out; Spark starts only for work."""
    listener = listener or Quiet()
    settings = pool_settings(project.settings, request.pool)
    opening = _Engine(engine or (lambda: spark_engine(settings, say=listener.said)))
    changes = None
    if "stale" in request.only and any(
        source for task in project.graph.tasks.values() for source in task.sources
    ):
        changes = opening.source_changes
    if ledger is None:
        with open_ledger(settings.ledger_url, root=settings.root, create=False) as known:
            plan = prepare(project, request, known, changes=changes)
    else:
        plan = prepare(project, request, ledger, changes=changes)
    listener.planned(plan)
    if dry_run:
        return BackfillResult(plan=plan, state="planned")
    if not plan.windows and not plan.continues:
        return BackfillResult(plan=plan, state="succeeded")
    opening.start()
    if ledger is not None:
        return _carry_out(project, plan, opening.get(), ledger, listener=listener, changes=changes)
    with open_ledger(settings.ledger_url, root=settings.root, create=True) as writable:
        return _carry_out(
            project, plan, opening.get(), writable, listener=listener, changes=changes
        )


def pool_settings(settings: Settings, pool: str | None) -> Settings:
    """The settings for the jobs of a pool: its own Spark server, if it names one."""
    named = settings.pools.get(pool) if pool else None
    if named is None or named.remote is None:
        return settings
    return replace(settings, spark=replace(settings.spark, master=None, remote=named.remote))


class _Engine:
    """The engine, made when it is first needed."""

    def __init__(self, make: Callable[[], BackfillEngine]) -> None:
        self._make = make
        self._made: BackfillEngine | None = None

    def get(self) -> BackfillEngine:
        if self._made is None:
            self._made = self._make()
        return self._made

    def start(self) -> None:
        self.get().start()

    def source_changes(self, source: BoundSource) -> list[SourceChange] | None:
        return self.get().source_changes(source)


def _carry_out(
    project: Project,
    plan: BackfillPlan,
    engine: BackfillEngine,
    ledger: Ledger,
    *,
    listener: BackfillListener,
    changes: Changes | None,
) -> BackfillResult:
    record = ledger.backfills.open(_new_record(plan, ledger))
    if plan.continues == record.backfill_id and _adopt(plan, record, engine, ledger):
        plan = prepare(project, plan.request, ledger, changes=changes)
    shadows: tuple[str, ...] = ()
    if plan.request.shadow:
        plan = shadow_plan(plan, record.backfill_id, ledger)
        shadows = tuple(str(each.task.target) for each in plan.tasks)
    execution = Execution(
        plan=plan,
        record=record,
        engine=engine,
        ledger=ledger,
        settings=project.settings,
        listener=listener,
    )
    try:
        state = execution.run()
    except BaseException:
        _interrupted(ledger, record)
        raise
    jobs = ledger.backfills.jobs(record.backfill_id)
    used = usage(record.backfill_id, jobs, project.settings.cost)
    ledger.backfills.end(record.backfill_id, state)
    return BackfillResult(
        plan=plan,
        state=state,
        backfill_id=record.backfill_id,
        windows=_in_order(execution.results, plan),
        usage=used,
        shadows=shadows,
    )


def _new_record(plan: BackfillPlan, ledger: Ledger) -> Backfill:
    request, holder = plan.request, this_process()
    return Backfill(
        backfill_id=new_run_id()[:10],
        request_key=request.key,
        request=request.document(),
        state="running",
        since=ledger.take_fence(),
        windows=plan.windows,
        requested_by=request.requested_by,
        reason=request.reason,
        tags=request.tags,
        scopes=tuple(
            TaskRange(task=each.task.name, start=each.start, end=each.end) for each in plan.tasks
        ),
        detail={"shadow": "writing"} if request.shadow else {},
        started_at=utc_now(),
        seen_at=utc_now(),
        pid=holder.pid,
        host=holder.host,
        machine=holder.machine,
        born=holder.born,
    )


def _adopt(plan: BackfillPlan, record: Backfill, engine: BackfillEngine, ledger: Ledger) -> int:
    """Look for commits of jobs whose process died before the ledger heard of them."""
    tasks = {each.task.name: each.task for each in plan.tasks}
    adopted = 0
    for job in ledger.backfills.jobs(record.backfill_id):
        if job.state != "running":
            continue
        task = tasks.get(job.task)  # a shadow's is not among them: it is written again
        windows = lost_windows(job, task) if task else []
        outcome = engine.find_batch(task, windows, job.job_id) if task and windows else None
        if outcome is None or task is None:
            ledger.backfills.put_job(replace(job, state="lost", finished_at=utc_now()))
            continue
        known = {
            (each.window_start, each.window_end): each.fence
            for each in ledger.standings(task.name, windows[0].start, windows[-1].end)
        }
        # A window that was set again since then is as that run left it.
        mine = [
            window
            for window in windows
            if known.get((window.start.isoformat(), window.end.isoformat()), 0) < job.fence
        ]
        adopt(ledger, job, task, mine, outcome)
        adopted += len(mine)
    return adopted


def _in_order(results: Sequence[WindowResult], plan: BackfillPlan) -> tuple[WindowResult, ...]:
    """By task, upstream first, and then by time; jobs end in any order."""
    place = {each.task.name: number for number, each in enumerate(plan.tasks)}

    def key(result: WindowResult) -> tuple[int, float]:
        return place[result.task], result.window.start.timestamp() if result.window else 0.0

    return tuple(sorted(results, key=key))


def _interrupted(ledger: Ledger, record: Backfill) -> None:
    # What stopped the backfill is what the person must see, also when the ledger is out of reach.
    try:
        ledger.backfills.end(record.backfill_id, "interrupted")
    except LedgerError:
        return
