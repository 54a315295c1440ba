"""How a backfill looks while it goes on: a bar on a terminal, lines in a pipe, nothing for JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from setpoint.cli.backfill_words import plan_lines
from setpoint.cli.words import count_text, seconds_text

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from setpoint.backfilling.plan import BackfillPlan
    from setpoint.backfilling.progress import BackfillListener, JobReport, Progress

MARKS = {"succeeded": ("✓", "green"), "failed": ("✗", "red")}


def listener_for(output: str) -> BackfillListener:
    """The listener that suits where the output goes."""
    if output == "json":
        from setpoint.backfilling.progress import Quiet

        return Quiet()
    return LiveBar() if sys.stdout.isatty() else Lines()


def report_words(report: JobReport) -> str:
    """A job in one line's worth of words."""
    if report.error is not None:
        return report.error.message
    words = []
    if report.windows > 1:
        words.append(f"{report.windows:,} windows")
    words.append(f"{count_text(report.rows)} rows")
    if report.replaced:
        words.append(f"replaced {count_text(report.replaced)}")
    words.append(seconds_text(report.seconds))
    return "  ".join(word for word in words if word)


def progress_words(progress: Progress) -> str:
    """The counts, the rate and what is left."""
    words = [f"{progress.ended:,} of {progress.total:,} windows"]
    if progress.failed or progress.blocked:
        words.append(f"{progress.failed:,} failed, {progress.blocked:,} blocked")
    if progress.running:
        words.append(f"{progress.running:,} running")
    if progress.rate is not None:
        words.append(f"{progress.rate:.1f}/s")
    if progress.remaining_seconds is not None and progress.ended < progress.total:
        words.append(f"{seconds_text(progress.remaining_seconds)} left")
    return ", ".join(words)


class Lines:
    """A line for each job, and one for the counts after it."""

    def __init__(self) -> None:
        self._shown = -1

    def planned(self, plan: BackfillPlan) -> None:
        """Say what was resolved."""
        for line in plan_lines(plan):
            click.echo(line)

    def said(self, message: str) -> None:
        """Say it."""
        click.echo(message)

    def began(self, backfill_id: str, plan: BackfillPlan) -> None:
        """Its id, by which it can be paused, resumed and cancelled."""
        click.echo(f"backfill {backfill_id}: {plan.windows:,} windows")

    def reported(self, report: JobReport) -> None:
        """How a job ended."""
        click.echo(f"{report.task}  {report.label}  {report.state}  {report_words(report)}")

    def progressed(self, progress: Progress) -> None:
        """The counts, when they have changed."""
        if progress.ended != self._shown and progress.ended:
            self._shown = progress.ended
            click.echo(progress_words(progress))

    def over(self) -> None:
        """Nothing is left to clear away."""


class LiveBar(Lines):
    """A bar with the counts; a line stays for each job that ended."""

    def __init__(self) -> None:
        super().__init__()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def began(self, backfill_id: str, plan: BackfillPlan) -> None:
        """Draw the bar."""
        from rich.progress import BarColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as Bar

        from setpoint.cli.output import console

        super().began(backfill_id, plan)
        columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}", markup=False))
        self._bar = Bar(*columns, console=console(), transient=True)
        self._task = self._bar.add_task("", total=plan.windows)
        self._bar.start()

    def said(self, message: str) -> None:
        """Above the bar."""
        self._line(message)

    def reported(self, report: JobReport) -> None:
        """A line above the bar, with a mark."""
        mark, colour = MARKS[report.state]
        name = click.style(report.task, bold=True)
        words = report_words(report)
        self._line(f"{click.style(mark, fg=colour)} {name}  {report.label}  {words}")

    def progressed(self, progress: Progress) -> None:
        """Move the bar."""
        if self._bar is not None and self._task is not None:
            self._bar.update(
                self._task, completed=progress.ended, description=progress_words(progress)
            )

    def over(self) -> None:
        """Clear the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _line(self, text: str) -> None:
        if self._bar is None:
            click.echo(text)
            return
        from rich.text import Text

        self._bar.console.print(Text.from_ansi(text))
