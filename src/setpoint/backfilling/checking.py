"""Testing that a backfill is safe: an old window set aside, and compared with what is there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.backfilling.project_backfill import backfill_project
from setpoint.backfilling.publishing import open_shadow
from setpoint.backfilling.request import Request
from setpoint.errors import SetpointError, UsageError
from setpoint.ledger.opening import open_ledger
from setpoint.running.loading import open_project
from setpoint.running.project_run import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from setpoint.engine.protocol import BackfillEngine
    from setpoint.ledger.protocol import Ledger, LedgerReader
    from setpoint.model.comparison import Comparison
    from setpoint.project.project import Project

MONTH = timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class Checked:
    """One task's old window: as it is, and as its code would set it today."""

    task: str
    label: str
    comparison: Comparison

    def document(self) -> dict[str, object]:
        """As documented for `--output json`."""
        return {"task": self.task, "window": self.label, **self.comparison.document()}


def check_backfill(
    tasks: Sequence[str],
    *,
    folder: Path | str = ".",
    start: str | None = None,
    end: str | None = None,
    say: Callable[[str], None],
) -> list[Checked]:
    """Set a window of each task aside, of a month before its newest, and compare it."""
    project = open_project(Path(folder))
    settings = project.settings
    engine = spark_engine(settings, say=say)
    with open_ledger(settings.ledger_url, root=settings.root, create=True) as ledger:
        return check_project(project, tasks, engine, ledger, start=start, end=end)


def check_project(
    project: Project,
    tasks: Sequence[str],
    engine: BackfillEngine,
    ledger: Ledger,
    *,
    start: str | None = None,
    end: str | None = None,
) -> list[Checked]:
    """The same for a loaded project."""
    found = []
    for name in tasks:
        task = project.graph.task(name)
        if start is None or end is None:
            first, last = month_ago(ledger, task.name)
            asked = (first.isoformat(), last.isoformat())
        else:
            asked = (start, end)
        request = Request(
            tasks=(task.name,),
            start=asked[0].replace("+00:00", "Z"),
            end=asked[1].replace("+00:00", "Z"),
            shadow=True,
            tags={"check": task.name},
        )
        result = backfill_project(project, request, engine=lambda: engine, ledger=ledger)
        shadow = open_shadow(
            result.backfill_id or "",
            project.settings.root,
            ledger,
            say=lambda _text: None,
            engine=engine,
        )
        try:
            if result.failed:
                raise SetpointError(
                    f"{task.name} fails on {request.start}: {result.failed[0].error}",
                    next_step=f"setpoint explain {task.name}",
                )
            comparison = shadow.compare()[task.name]
        finally:
            shadow.discard()
        windows = comparison.windows
        label = windows[0].window.label
        if len(windows) > 1:
            label += f" … {windows[-1].window.label}"
        found.append(Checked(task=task.name, label=label, comparison=comparison))
    return found


def month_ago(ledger: LedgerReader, task: str) -> tuple[datetime, datetime]:
    """The window that succeeded a month before the newest one that did, or nearest to it."""
    done = [
        (run.window_start, run.window_end)
        for run in ledger.latest(task, state="succeeded", limit=None)
        if run.window_start and run.window_end
    ]
    if not done:
        raise UsageError(
            f"no window of {task} has succeeded yet, so there is nothing to compare with",
            next_step=f"setpoint run --select {task}, or give --start and --end",
        )
    wanted = max(start for start, _ in done) - MONTH
    return min(done, key=lambda window: abs(window[0] - wanted))
