"""A plan: which task runs for which window, in which order. Data; nothing has happened yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.errors import UsageError
from setpoint.model.grain import Grain, parse_instant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setpoint.model.graph import Graph
    from setpoint.model.task import Task
    from setpoint.model.window import Window

WHOLE_TABLE = "whole table"


@dataclass(frozen=True, kw_only=True)
class Dates:
    """The dates a person gave: one day (`ds`), or a half-open range."""

    ds: str | None = None
    start: str | None = None
    end: str | None = None

    @property
    def given(self) -> bool:
        """Whether any date was given."""
        # An empty text was given too: a shell variable that was not set must not mean a default.
        return any(date is not None for date in (self.ds, self.start, self.end))


@dataclass(frozen=True, kw_only=True)
class Step:
    """One task on one window."""

    task: Task
    window: Window | None
    depends_on: tuple[str, ...] = ()
    """The tasks of the same plan that must have succeeded first."""
    as_of: Mapping[str, str] | None = None
    """The snapshot of each source table to read, for the replay of an earlier run."""

    @property
    def label(self) -> str:
        """The window in words."""
        return self.window.label if self.window else WHOLE_TABLE


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Steps in the order in which they are carried out."""

    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()
    """What was resolved on the way, for the person to see."""


def make_plan(graph: Graph, *, select: Sequence[str], dates: Dates) -> Plan:
    """Resolve names and dates to steps, upstream first, windows in order."""
    if dates.ds is not None and (dates.start is not None or dates.end is not None):
        raise UsageError("--ds and --start/--end exclude each other", next_step="give one of them")
    if (dates.start is None) != (dates.end is None):
        raise UsageError(
            "--start and --end go together", next_step="--end is exclusive: --end 2026-05-01"
        )
    tasks = graph.upstream_first(select)
    planned = {task.name for task in tasks}
    steps: list[Step] = []
    notes: dict[str, None] = {}
    for task in tasks:
        needs = tuple(name for name in graph.upstream[task.name] if name in planned)
        windows, note = task_windows(task, dates)
        if note:
            notes.setdefault(note)
        for warning in task.warnings:
            notes.setdefault(f"{task.name}: {warning}")
        reopened = reopened_windows(task, windows)
        if reopened:
            labels = ", ".join(window.label for window in reopened)
            notes.setdefault(f"{task.name}: lookback={task.lookback} also reopens {labels}")
            windows = [*reopened, *windows]
        steps += [Step(task=task, window=window, depends_on=needs) for window in windows]
    return Plan(steps=tuple(steps), notes=tuple(notes))


def reopened_windows(task: Task, windows: Sequence[Window | None]) -> list[Window]:
    """The windows before the first one that the task's lookback opens again, oldest first."""
    first = windows[0] if windows else None
    reopened: list[Window] = []
    while task.grain and first and len(reopened) < task.lookback:
        first = task.grain.previous(first)
        reopened.insert(0, first)
    return reopened


def task_windows(task: Task, dates: Dates) -> tuple[Sequence[Window | None], str | None]:
    """The windows of a task that the dates name, and what there is to say about them."""
    grain = task.grain
    if grain is None:
        return [None], None
    if not dates.given:
        if task.development_date is None:
            raise UsageError(
                f"{task.name} needs a date, and neither it nor setpoint.toml has a development one",
                next_step="setpoint run --ds 2026-04-25 (the date to run for)",
            )
        dates = Dates(ds=task.development_date)
        note = f"no date given: using the development date {task.development_date}"
    else:
        note = None
    if dates.ds is not None:
        return _windows_of(dates.ds, grain), note
    start = parse_instant(dates.start or "", zone=grain.zone)
    end = parse_instant(dates.end or "", zone=grain.zone)
    if end <= start:
        raise UsageError(
            f"--end {dates.end} is not after --start {dates.start}",
            next_step="--end is exclusive: for one day give the day after it",
        )
    windows = list(grain.windows(start, end))
    if windows[0].start != start or windows[-1].end != end:
        note = (
            f"{task.name}: the range was widened to whole windows, "
            f"{windows[0].label} to {windows[-1].label}"
        )
    return windows, note


def _windows_of(ds: str, grain: Grain) -> list[Window]:
    """The window that the date lies in; for a grain within a day, all the windows of that date.

    A daily task that reads an hourly one would otherwise be set from the first hour alone.
    """
    moment = parse_instant(ds, zone=grain.zone)
    day = Grain(unit="day", zone=grain.zone)
    if "T" in ds or not day.coarser_than(grain):
        return [grain.window_at(moment)]
    whole = day.window_at(moment)
    return list(grain.windows(whole.start, whole.end))
