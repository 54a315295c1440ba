"""The windows that a trial runs: the one asked for, the one before it, and one a month ago."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from setpoint.model.plan import Dates, task_windows
from setpoint.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setpoint.model.task import Task

MONTH = timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class TrialWindows:
    """`main` is None for a task that has no windows and sets its whole table."""

    main: Window | None
    before: Window | None = None
    month: Window | None = None

    @property
    def all(self) -> tuple[Window, ...]:
        """The windows in the order of time."""
        return tuple(each for each in (self.month, self.before, self.main) if each is not None)

    @property
    def union(self) -> Window | None:
        """The window asked for and the one before it as one."""
        if self.main is None or self.before is None:
            return None
        return Window(start=self.before.start, end=self.main.end, zone=self.main.zone)


SEVERAL = frozenset({"neighbours", "order", "month", "batch"})
"""The checks that need more than one window."""


def trial_windows(task: Task, ds: str | None, checks: Sequence[str]) -> TrialWindows:
    """The windows that the checks need for a date; the development date when none is given."""
    main = task_windows(task, Dates(ds=ds))[0][0]
    if main is None or task.grain is None or not SEVERAL & set(checks):
        return TrialWindows(main=main)
    before = task.grain.previous(main)
    month = task.grain.window_at(main.start - MONTH)
    if month.end > before.start:  # windows of a week or a month: the one before that one
        month = task.grain.previous(before)
    return TrialWindows(main=main, before=before, month=month)
