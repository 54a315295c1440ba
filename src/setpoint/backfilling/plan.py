"""The plan of a backfill: windows, batches, order, skips. Data; nothing has happened yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from setpoint.backfilling.batching import Batch, batches, default_size
from setpoint.backfilling.selecting import select
from setpoint.backfilling.separable import Coalescing, coalescing
from setpoint.model.plan import Dates, task_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from setpoint.backfilling.estimate import Estimate
    from setpoint.backfilling.request import Request
    from setpoint.backfilling.selecting import Choice, Skip
    from setpoint.ledger.backfill import Separability
    from setpoint.ledger.record import Standing
    from setpoint.model.graph import Graph
    from setpoint.model.task import Task
    from setpoint.model.window import Window


@dataclass(frozen=True, kw_only=True)
class TaskPlan:
    """What is done of one task."""

    task: Task
    windows: tuple[Window | None, ...]
    """Those to run, oldest first; None alone for a task that sets its whole table."""
    batches: tuple[Batch, ...]
    """Stretches of `windows`, oldest first; a job each."""
    coalescing: Coalescing
    skips: tuple[Skip, ...] = ()
    start: datetime | None = None
    end: datetime | None = None
    """The whole stretch of time that was asked for, widened to whole windows."""
    readers: tuple[str, ...] = ()
    """Tasks outside of the plan that read what is set again."""

    def span(self, batch: Batch) -> Window | None:
        """The one window that a batch covers."""
        first, last = self.windows[batch.first], self.windows[batch.stop - 1]
        if first is None or last is None or first is last:
            return first
        return replace(first, end=last.end)

    @property
    def skipped(self) -> int:
        """How many windows are left as they are."""
        return sum(skip.windows for skip in self.skips)

    @property
    def together(self) -> int:
        """How many tasks of it may run at once: those that set the whole table only in turn."""
        from setpoint.model.write import window_column

        return 1 if window_column(self.task.write) is None else len(self.batches)


@dataclass(frozen=True, kw_only=True)
class BackfillPlan:
    """Tasks in order, upstream first, each with its windows and batches."""

    request: Request
    tasks: tuple[TaskPlan, ...]
    upstream: Mapping[str, tuple[str, ...]]
    """For each task those of the plan that it reads."""
    notes: tuple[str, ...] = ()
    estimate: Estimate | None = None
    continues: str | None = None
    """The id of the backfill that this one goes on with."""

    @cached_property
    def windows(self) -> int:
        """How many windows are to be run."""
        return sum(len(each.windows) for each in self.tasks)

    @cached_property
    def jobs(self) -> int:
        """How many jobs that is, if every task not yet probed is found separable."""
        return sum(len(each.batches) for each in self.tasks)

    @property
    def skipped(self) -> int:
        """How many windows are left as they are."""
        return sum(each.skipped for each in self.tasks)

    def document(self) -> dict[str, object]:
        """The plan as documented for `--output json`."""
        return {
            "continues": self.continues,
            "windows": self.windows,
            "jobs": self.jobs,
            "skipped": self.skipped,
            "backwards": self.request.backwards,
            "notes": list(self.notes),
            "tasks": [_task_document(each) for each in self.tasks],
            "estimate": self.estimate.document() if self.estimate else None,
        }


def make_backfill_plan(
    graph: Graph,
    request: Request,
    *,
    standings: Callable[[str, datetime, datetime], Sequence[Standing]],
    choice: Callable[[Task], Choice],
    verdict: Callable[[Task], Separability | None],
    window_bytes: Callable[[Task], float | None] = lambda _task: None,
    continues: str | None = None,
) -> BackfillPlan:
    """Resolve the range into the windows of each task, and those into batches."""
    chosen = selected_tasks(graph, request)
    names = {task.name for task in chosen}
    windows, notes = _windows(graph, chosen, request)
    plans = []
    for task in chosen:
        asked = windows[task.name]
        first, last = (asked[0], asked[-1]) if asked else (None, None)
        todo: Sequence[Window | None] = asked
        skips: tuple[Skip, ...] = ()
        if first is not None and last is not None:
            known = standings(task.name, first.start, last.end)
            todo, skips = select((w for w in asked if w), known, choice(task))
        how = coalescing(task, verdict(task))
        size = 1
        if how.possible:
            size = request.batch_size or default_size(task.grain, window_bytes=window_bytes(task))
        plans.append(
            TaskPlan(
                task=task,
                windows=tuple(todo),
                batches=tuple(batches(todo, size)),
                coalescing=how,
                skips=skips,
                start=first.start if first else None,
                end=last.end if last else None,
                readers=tuple(n for n in graph.consumers(task.target) if n not in names),
            )
        )
        if task.lookback:
            notes.append(f"{task.name}: lookback={task.lookback} opens nothing before the range")
    return BackfillPlan(
        request=request,
        tasks=tuple(plans),
        upstream={n: tuple(u for u in graph.upstream[n] if u in names) for n in names},
        notes=tuple(notes),
        continues=continues,
    )


def one_by_one(plan: BackfillPlan, name: str) -> BackfillPlan:
    """The same plan with a job for each window of one task, which was found not separable."""
    tasks = tuple(
        replace(
            each,
            batches=tuple(batches(each.windows, 1)),
            coalescing=Coalescing(possible=False, why="found not separable"),
        )
        if each.task.name == name
        else each
        for each in plan.tasks
    )
    return replace(plan, tasks=tasks)


def selected_tasks(graph: Graph, request: Request) -> tuple[Task, ...]:
    """The named tasks, and with the flags all that they read or all that reads them."""
    named = [graph.task(name).name for name in request.tasks]
    chosen = set(named)
    if request.with_upstream:
        chosen |= {task.name for task in graph.upstream_first(named)}
    if request.with_downstream:
        chosen |= downstream(graph, named)
    return tuple(task for task in graph.upstream_first() if task.name in chosen)


def downstream(graph: Graph, names: Sequence[str]) -> set[str]:
    """All tasks that read what these write, directly or through others."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        for reader in graph.consumers(graph.tasks[name].target):
            if reader not in found:
                found.add(reader)
                waiting.append(reader)
    return found


def _windows(
    graph: Graph, chosen: Sequence[Task], request: Request
) -> tuple[dict[str, Sequence[Window | None]], list[str]]:
    """The windows of each task: the named ones by the dates, the others by what they border on.

    A day of one zone reaches into two days of another, and an hour lies in a whole day: what is
    read must be there, and what reads must be set, so each range is widened to whole windows.
    """
    dates = Dates(start=request.start, end=request.end)
    names = {task.name for task in chosen}
    named = {graph.task(name).name for name in request.tasks}
    found: dict[str, Sequence[Window | None]] = {}
    notes: list[str] = []
    for task in chosen:
        if task.name in named:
            found[task.name], note = task_windows(task, dates)
            notes += [note] if note else []
    readers = {name: [other for other in names if name in graph.upstream[other]] for name in names}
    for task in reversed(chosen):
        if task.name not in found and any(each in found for each in readers[task.name]):
            found[task.name] = _beside(task, [found[n] for n in readers[task.name] if n in found])
    for task in chosen:
        if task.name not in found:
            above = [found[name] for name in graph.upstream[task.name] if name in found]
            found[task.name] = _beside(task, above)
    return found, notes


def _beside(task: Task, neighbours: Sequence[Sequence[Window | None]]) -> Sequence[Window | None]:
    spans = [(w[0].start, w[-1].end) for w in neighbours if w and w[0] and w[-1]]
    if task.grain is None or not spans:
        return [None]
    return list(task.grain.windows(min(s for s, _ in spans), max(e for _, e in spans)))


def _task_document(plan: TaskPlan) -> dict[str, object]:
    from setpoint.running.result import iso

    spans = [plan.span(batch) for batch in plan.batches]
    return {
        "task": plan.task.name,
        "target": str(plan.task.target),
        "start": iso(plan.start),
        "end": iso(plan.end),
        "windows": len(plan.windows),
        "batches": [
            {
                "window_start": iso(span.start if span else None),
                "window_end": iso(span.end if span else None),
                "windows": batch.count,
            }
            for span, batch in zip(spans, plan.batches, strict=True)
        ],
        "coalesced": plan.coalescing.possible,
        "why": plan.coalescing.why,
        "skipped": [
            {"reason": s.reason, "windows": s.windows, "first": s.first, "last": s.last}
            for s in plan.skips
        ],
        "readers": list(plan.readers),
    }
