"""Housekeeping: what dead attempts left behind, and history that no run refers to any more.

Nothing is removed that a run under way could use: an attempt's own staging is known by its run and
fence, and the history of a table is left alone while a process that may live has a lease on it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from setpoint.engine.commit_mark import WHOLE
from setpoint.ledger.holder import is_gone
from setpoint.ledger.lease import overlap
from setpoint.ledger.opening import open_ledger
from setpoint.model.table import TableName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from setpoint.engine.spark.engine import SparkEngine
    from setpoint.engine.spark.housekeeping import Housekeeping, KeptSnapshot
    from setpoint.ledger.lease import Lease
    from setpoint.ledger.protocol import Ledger
    from setpoint.ledger.record import Run
    from setpoint.project.project import Project


@dataclass(frozen=True, kw_only=True)
class Leftover:
    """One thing that can go."""

    kind: str
    table: str
    what: str
    why: str
    remove: Callable[[], None] = field(repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What must stay: runs that can be replayed, and what is younger than a moment."""

    keep: int
    before: datetime


def leftovers(project: Project, engine: SparkEngine) -> list[Leftover]:
    """What dead attempts have staged."""
    runs = _runs(project)
    targets = _targets(project)
    housekeeping = _housekeeping(project, engine)
    return [*_staging_tables(project, runs), *_staged_rows(targets, housekeeping, runs)]


def cleanable(project: Project, engine: SparkEngine, limits: Limits) -> Iterator[Leftover]:
    """Everything that can go, a table after the other."""
    yield from leftovers(project, engine)
    runs, busy = _runs(project), busy_tables(project)
    housekeeping = _housekeeping(project, engine)
    for table in _targets(project):
        yield from _shadows(table, housekeeping, runs, limits)
        if str(table) in busy:
            continue
        yield from _snapshots(table, housekeeping, runs, limits)
        yield from _files(table, housekeeping, limits)


def is_dead(run_id: str, fence: int, runs: Iterable[Run]) -> bool:
    """Whether an attempt is over: its run has ended, or gone on with a newer fence.

    A run that the ledger does not know may be another project's, and counts as alive.
    """
    return any(
        run.run_id == run_id and (run.state != "running" or fence < run.fence) for run in runs
    )


def _first_alive(runs: Sequence[Run]) -> int:
    """The lowest fence of a scope that an attempt may still work under."""
    running = [run.fence for run in runs if run.state == "running"]
    return min(running, default=max(run.fence for run in runs) + 1)


def referred(runs: Sequence[Run], keep: int) -> set[str]:
    """The snapshots that the last runs of each window wrote or read, and those of open runs."""
    seen: dict[object, int] = {}
    kept: set[str] = set()
    for run in sorted(runs, key=lambda run: run.fence, reverse=True):
        if run.state != "succeeded":
            continue
        seen[run.scope] = seen.get(run.scope, 0) + 1
        if seen[run.scope] > keep:
            continue
        inputs = run.detail.get("inputs")
        kept |= {str(each) for each in inputs.values()} if isinstance(inputs, dict) else set()
        kept |= {run.snapshot} if run.snapshot else set()
    return kept


def expirable(
    snapshots: Sequence[KeptSnapshot], *, kept: set[str], before: datetime
) -> list[KeptSnapshot]:
    """The snapshots that no name, no run and no recent reader can refer to."""
    return [
        each for each in snapshots if not each.named and each.id not in kept and each.at < before
    ]


def busy_tables(project: Project) -> set[str]:
    """The tables on which a process has a lease that is not known to be dead."""
    with _ledger(project) as ledger:
        return {lease.target for lease in ledger.leases() if not is_gone(lease.holder)}


def _runs(project: Project) -> list[Run]:
    """Every run; one that nobody holds a lease for any more has ended, whatever is recorded."""
    with _ledger(project) as ledger:
        held = [lease for lease in ledger.leases() if not is_gone(lease.holder)]
        return [
            run if any(_holds(lease, run) for lease in held) else replace(run, state="failed")
            for run in ledger.runs(state="running", limit=None)
        ] + [run for run in ledger.runs(limit=None) if run.state != "running"]


def _holds(lease: Lease, run: Run) -> bool:
    return lease.task == run.task and overlap(lease.scope, run.scope)


def _ledger(project: Project) -> Ledger:
    settings = project.settings
    return open_ledger(settings.ledger_url, root=settings.root, create=False)


def _targets(project: Project) -> list[TableName]:
    return sorted({task.target for task in project.graph.tasks.values()})


def _housekeeping(project: Project, engine: SparkEngine) -> Housekeeping:
    from setpoint.engine.spark.housekeeping import Housekeeping

    return Housekeeping(engine.spark, project.settings)


def _staging_tables(project: Project, runs: Sequence[Run]) -> Iterator[Leftover]:
    from setpoint.engine.spark import housekeeping

    for connection in project.settings.connections.values():
        # By the names of this ledger's own scopes: others may use the same database.
        owners = {
            housekeeping.staging_prefix_of(TableName.parse(run.target), _scope(run)): run
            for run in runs
            if TableName.parse(run.target).catalog == connection.name
        }
        for name in housekeeping.staging_tables(connection):
            prefix, _, fence = name.rpartition("_")
            owner = owners.get(f"{prefix}_")
            if owner is None or not fence.isdigit():
                continue
            if int(fence) >= _first_alive([run for run in runs if run.scope == owner.scope]):
                continue

            yield Leftover(
                kind="staging table",
                table=owner.target,
                what=name,
                why=f"the attempt with fence {fence} of {owner.task} is over",
                remove=partial(housekeeping.drop_staging_table, connection, name),
            )


def _staged_rows(
    targets: Sequence[TableName], housekeeping: Housekeeping, runs: Sequence[Run]
) -> Iterator[Leftover]:
    for table in targets:
        for staged in housekeeping.staged_rows(table):
            if is_dead(staged.run_id, staged.fence, runs):
                yield Leftover(
                    kind="staged rows",
                    table=str(table),
                    what=str(staged.folder),
                    why=f"the attempt with fence {staged.fence} of run {staged.run_id} is over",
                    remove=partial(shutil.rmtree, staged.folder, ignore_errors=True),
                )


def _shadows(
    table: TableName, housekeeping: Housekeeping, runs: Sequence[Run], limits: Limits
) -> Iterator[Leftover]:
    for shadow in housekeeping.shadows(table):
        into = [run for run in runs if run.target == str(shadow)]
        if not into or any(
            run.state == "running" or (run.finished_at or run.started_at) >= limits.before
            for run in into
        ):
            continue
        newest = max(run.finished_at or run.started_at for run in into)
        yield Leftover(
            kind="shadow table",
            table=str(table),
            what=str(shadow),
            why=f"no backfill has written to it since {newest.date()}",
            remove=partial(housekeeping.drop, shadow),
        )


def _snapshots(
    table: TableName, housekeeping: Housekeeping, runs: Sequence[Run], limits: Limits
) -> Iterator[Leftover]:
    found = expirable(
        housekeeping.snapshots(table), kept=referred(runs, limits.keep), before=limits.before
    )
    if found:
        ids = [each.id for each in found]
        yield Leftover(
            kind="snapshots",
            table=str(table),
            what=f"{len(ids)}, from {found[0].at.date()} to {found[-1].at.date()}",
            why="no run that is kept wrote or read them",
            remove=partial(housekeeping.expire, table, ids),
        )


def _files(table: TableName, housekeeping: Housekeeping, limits: Limits) -> Iterator[Leftover]:
    found = housekeeping.orphan_files(table, limits.before)
    if found:
        yield Leftover(
            kind="files",
            table=str(table),
            what=f"{len(found)}, such as {found[0].rpartition('/')[2]}",
            why="no snapshot of the table has them",
            remove=partial(housekeeping.remove_orphan_files, table, limits.before),
        )


def _scope(run: Run) -> str:
    if run.window_start is None or run.window_end is None:
        return WHOLE
    return f"{run.window_start.isoformat()}/{run.window_end.isoformat()}"
