"""Making the plan of a backfill from the project and what the ledger knows. No Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from setpoint.backfilling.estimate import estimate, past_runs
from setpoint.backfilling.plan import make_backfill_plan
from setpoint.backfilling.selecting import Choice
from setpoint.backfilling.stale import Staleness
from setpoint.engine.table_size import table_size
from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.backfilling.estimate import PastRuns
    from setpoint.backfilling.plan import BackfillPlan
    from setpoint.backfilling.request import Request
    from setpoint.engine.protocol import SourceChange
    from setpoint.ledger.protocol import LedgerReader
    from setpoint.model.task import BoundSource, Task
    from setpoint.project.project import Project

RECENT_RUNS = 50


def prepare(
    project: Project,
    request: Request,
    ledger: LedgerReader,
    *,
    changes: Callable[[BoundSource], list[SourceChange] | None] | None = None,
) -> BackfillPlan:
    """The plan: what the ledger shows done is left out, and the estimate says what it rests on.

    `changes` asks a source table for its commits, to find windows whose inputs have changed.
    """
    settings = project.settings
    if request.pool is not None and request.pool not in settings.pools:
        known = ", ".join(sorted(settings.pools)) or "none"
        raise UsageError(
            f"no pool is called {request.pool!r}",
            next_step=f"the pools of setpoint.toml are: {known}; add [pools.{request.pool}]",
        )
    found = ledger.backfills.unfinished(request.key)
    past: dict[str, PastRuns | None] = {}

    def known_past(task: Task) -> PastRuns | None:
        if task.name not in past:
            jobs = ledger.backfills.jobs(task=task.name)
            runs = [] if jobs else ledger.runs(task.name, state="succeeded", limit=RECENT_RUNS)
            past[task.name] = past_runs(jobs, runs)
        return past[task.name]

    def window_bytes(task: Task) -> float | None:
        known = known_past(task)
        return known.bytes_read / known.windows if known and known.bytes_read else None

    def choice(task: Task) -> Choice:
        stale = None
        if "stale" in request.only:
            stale = Staleness(graph=project.graph, task=task, ledger=ledger, changes=changes)
        chosen = Choice(
            reprocess="completed" if request.shadow else request.reprocess or "failed",
            only=request.only,
            since=found.since if found else None,
        )
        return replace(chosen, stale=stale.why) if stale else chosen

    plan = make_backfill_plan(
        project.graph,
        request,
        standings=ledger.standings,
        choice=choice,
        verdict=lambda task: ledger.backfills.separability(task.name, task.fingerprint),
        window_bytes=window_bytes,
        continues=found.backfill_id if found else None,
    )
    tables = {source.table for each in plan.tasks for source in each.task.sources}
    sizes = {str(table): table_size(settings, table) for table in tables}
    before = {each.task.name: known_past(each.task) for each in plan.tasks}
    return replace(
        plan,
        estimate=estimate(
            plan,
            past={name: runs for name, runs in before.items() if runs},
            sizes={name: size for name, size in sizes.items() if size},
            rate_per_hour=settings.cost.per_hour,
            currency=settings.cost.currency,
        ),
    )
