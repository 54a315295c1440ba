"""How a run looks while it goes on: live on a terminal, lines in a pipe, nothing for JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from setpoint.cli.words import count_text, seconds_text

if TYPE_CHECKING:
    from rich.status import Status

    from setpoint.errors import SetpointError
    from setpoint.model.plan import Plan, Step
    from setpoint.running.listener import Listener
    from setpoint.running.result import RunResult

MARKS = {"succeeded": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("○", "yellow")}


def listener_for(output: str) -> Listener:
    """The listener that suits where the output goes."""
    if output == "json":
        from setpoint.running.listener import Silence

        return Silence()
    return LiveLines() if sys.stdout.isatty() else PlainLines()


def result_words(result: RunResult) -> str:
    """What came of a step, in one line's worth of words."""
    if result.state == "skipped":
        return result.error.message if result.error else ""
    if result.state == "failed":
        tried = f"after {result.attempts} attempts  " if result.attempts > 1 else ""
        return tried + seconds_text(result.seconds)
    words = [f"{count_text(result.rows)} rows"]
    if result.replaced:
        words.append(f"replaced {count_text(result.replaced)}")
    if result.attempts > 1:
        words.append(f"attempt {result.attempts}")
    if result.adopted:
        words.append("committed by an earlier attempt, nothing written again")
    if result.effects and result.effects.words():
        words.append(result.effects.words())
    words.append(seconds_text(result.seconds))
    if result.checksum:
        words.append(result.checksum)
    return "  ".join(words)


class PlainLines:
    """One line when a step begins, one when it ends."""

    def planned(self, plan: Plan) -> None:
        """Say what was resolved."""
        for note in plan.notes:
            click.echo(note)

    def said(self, message: str) -> None:
        """Say it."""
        click.echo(message)

    def started(self, step: Step) -> None:
        """A line, so that a log shows what is going on."""
        click.echo(f"{step.task.name}  {step.label}  running")

    def retrying(self, step: Step, error: SetpointError, seconds: float) -> None:
        """Why, and how long the wait is."""
        click.echo(
            f"{step.task.name}  {step.label}  retrying in {seconds_text(seconds)}: {error.message}"
        )

    def finished(self, result: RunResult) -> None:
        """How it ended."""
        step = result.step
        click.echo(f"{step.task.name}  {step.label}  {result.state}  {result_words(result)}")
        for warning in result.warnings:
            click.echo(f"  warning: {warning}")


class LiveLines(PlainLines):
    """A spinner for what is going on; a line stays for what is done."""

    def __init__(self) -> None:
        from setpoint.cli.output import console

        self.console = console()
        self.status: Status | None = None

    def said(self, message: str) -> None:
        """Show it beside the spinner."""
        self._pause()
        self.status = self.console.status(message)
        self.status.start()

    def started(self, step: Step) -> None:
        """Start the spinner."""
        self._pause()
        self.status = self.console.status(f"{step.task.name}  {step.label}")
        self.status.start()

    def retrying(self, step: Step, error: SetpointError, seconds: float) -> None:
        """Keep a line of it."""
        self._pause()
        super().retrying(step, error, seconds)
        self.started(step)

    def finished(self, result: RunResult) -> None:
        """Keep a line of it, with a mark."""
        self._pause()
        mark, colour = MARKS[result.state]
        step = result.step
        name = click.style(step.task.name, bold=True)
        click.echo(f"{click.style(mark, fg=colour)} {name}  {step.label}  {result_words(result)}")
        for warning in result.warnings:
            click.echo(f"  {click.style('warning', fg='yellow')}: {warning}")

    def _pause(self) -> None:
        if self.status:
            self.status.stop()
            self.status = None
