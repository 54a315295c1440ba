"""Writing a range aside: the same tasks under another name, onto tables that nobody reads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from setpoint.backfilling.batching import batches
from setpoint.backfilling.selecting import Choice, select
from setpoint.errors import UsageError
from setpoint.model.table import TableName
from setpoint.model.task import BoundSource
from setpoint.model.transform import SqlTransform
from setpoint.model.write import Merge, window_column

if TYPE_CHECKING:
    from setpoint.backfilling.plan import BackfillPlan, TaskPlan
    from setpoint.ledger.protocol import LedgerReader
    from setpoint.model.task import Task


def shadow_table(table: TableName, backfill_id: str) -> TableName:
    """The table that stands for another one until it is published."""
    return TableName((*table.parts[:-1], f"{table.parts[-1]}__shadow_{backfill_id}"))


def shadow_name(task: str, backfill_id: str) -> str:
    """The name under which the ledger keeps runs that no reader sees."""
    return f"{task}@{backfill_id}"


def original_name(name: str, backfill_id: str) -> str:
    """The task's own name, whether or not this is its shadow's."""
    return name.removesuffix(f"@{backfill_id}")


def shadow_plan(plan: BackfillPlan, backfill_id: str, ledger: LedgerReader) -> BackfillPlan:
    """The same plan onto shadows; a task that reads another one of the plan reads its shadow."""
    for each in plan.tasks:
        refuse_unshadowable(plan, each.task)
    targets = {each.task.target: shadow_table(each.task.target, backfill_id) for each in plan.tasks}
    tasks = []
    for each in plan.tasks:
        task = replace(
            each.task,
            name=shadow_name(each.task.name, backfill_id),
            target=targets[each.task.target],
            effects=(),  # nobody outside is told of what no reader sees
            sources=tuple(
                replace(source, table=targets.get(source.table, source.table))
                for source in each.task.sources
            ),
        )
        tasks.append(_left(replace(each, task=task), ledger))
    names = {each.task.name: shadow_name(each.task.name, backfill_id) for each in plan.tasks}
    upstream = {names[n]: tuple(names[u] for u in above) for n, above in plan.upstream.items()}
    return replace(plan, tasks=tuple(tasks), upstream=upstream)


def refuse_unshadowable(plan: BackfillPlan, task: Task) -> None:
    """Say why a task cannot be written aside, when it cannot."""
    if isinstance(task.write, Merge) or window_column(task.write) is None or task.grain is None:
        raise UsageError(
            f"{task.name} cannot be written aside: it does not own the rows of a window",
            next_step="--shadow is for tasks that overwrite or replace by a time column",
        )
    planned = {each.task.target for each in plan.tasks}
    for source in task.sources:
        if source.table in planned and source.event_time is None:
            raise UsageError(
                f"{task.name} reads {source.table} whole, and its shadow holds the range alone",
                next_step="back fill one after the other: publish the first, then begin the second",
            )


def publishing_task(task: Task, backfill_id: str) -> Task:
    """A task that sets the target from its shadow: one commit, with every gate once more."""
    rows = BoundSource(
        name="rows",
        table=shadow_table(task.target, backfill_id),
        event_time=window_column(task.write),
    )
    text = "SELECT * FROM rows"
    transform = SqlTransform(text=text, statement=text, first_line=1)
    return replace(task, transform=transform, sources=(rows,), late=None, effects=())


def _left(plan: TaskPlan, ledger: LedgerReader) -> TaskPlan:
    """Without the windows that the shadow holds already, when the backfill goes on."""
    if plan.start is None or plan.end is None:
        return plan
    windows = [window for window in plan.windows if window]
    known = ledger.standings(plan.task.name, plan.start, plan.end)
    todo, skips = select(windows, known, Choice())
    size = max((batch.count for batch in plan.batches), default=1)
    return replace(plan, windows=tuple(todo), batches=tuple(batches(todo, size)), skips=skips)
