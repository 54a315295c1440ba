"""How an error looks to the person who typed the command."""

from __future__ import annotations

import sys

import click

from setpoint.errors import GateFailed, ProjectError, RunError, SetpointError


def failure_lines(error: SetpointError) -> list[str]:
    """What failed, where, what was found and what to type next."""
    lines = [error.message]
    if isinstance(error, ProjectError):
        for fault in error.faults:
            lines.append(f"  {fault.place}: {fault.message}")
            if fault.fix:
                lines.append(f"      {fault.fix}")
    if isinstance(error, RunError):
        places = {"task": error.task, "window": error.window, "table": error.table}
        facts = {name: value for name, value in places.items() if value} | error.facts
        width = max((len(name) for name in facts), default=0)
        lines += [f"  {name:<{width}}  {value}" for name, value in facts.items()]
    if isinstance(error, GateFailed) and error.samples:
        lines.append("  sample keys:")
        lines += [f"    {sample}" for sample in error.samples]
    if error.next_step:
        lines.append(f"next: {error.next_step}")
    return lines


def show_failure(error: SetpointError) -> None:
    """Print the error to standard error."""
    first, *rest = failure_lines(error)
    click.echo(click.style("error: ", fg="red", bold=True) + first, err=True)
    for line in rest:
        click.echo(line, err=True)


def show_fault() -> None:
    """Say that Setpoint itself has a fault, and keep its stack in a file for the report."""
    import os
    import tempfile
    import traceback
    from pathlib import Path

    error = sys.exc_info()[1]
    path = Path(tempfile.gettempdir()) / f"setpoint-fault-{os.getpid()}.txt"
    try:
        path.write_text(traceback.format_exc(), encoding="utf-8")
        kept = f"its details are in {path}"
    except OSError:
        kept = "its details could not be kept"
    click.echo(
        click.style("error: ", fg="red", bold=True)
        + f"a fault in Setpoint itself: {type(error).__name__}: {error}",
        err=True,
    )
    click.echo(f"next: report it; {kept}", err=True)
