"""`setpoint init`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("init")
@click.argument("name", default=".")
def command(name: str) -> None:
    """Write a project that runs as it is: settings, two tasks and a made-up source.

    NAME is the folder to write to; this one when it is left out.
    """
    from setpoint.project.starting import start_project

    folder = Path(name)
    for path in start_project(folder):
        click.echo(f"wrote {path}")
    there = "" if folder.resolve() == Path.cwd() else f"cd {name} && "
    click.echo(f"next: {there}setpoint run")
