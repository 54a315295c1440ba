"""`setpoint clean`."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import click

from setpoint.cli.output import output_option, print_document, print_table, project_option


@click.command("clean")
@click.option("--yes", is_flag=True, help="Remove what is listed. Without it nothing is removed.")
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="RUNS",
    help="How many runs of each window stay as they are, to be replayed by --as-of-run.",
)
@click.option(
    "--older-than",
    type=click.IntRange(min=1),
    default=7,
    show_default=True,
    metavar="DAYS",
    help="Snapshots, files and shadow tables younger than this stay.",
)
@output_option
@project_option
def command(yes: bool, keep: int, older_than: int, output: str, project: str) -> None:
    """List what dead attempts and old runs have left behind; with --yes, remove it.

    Staging of attempts that are over, shadow tables that no backfill writes to, snapshots that no
    kept run wrote or read, and files that no snapshot has. What a run under way uses stays.
    """
    from setpoint.running.cleaning import Limits, busy_tables, cleanable
    from setpoint.running.loading import open_project
    from setpoint.running.project_run import spark_engine

    loaded = open_project(Path(project))
    engine = spark_engine(loaded.settings, say=lambda text: click.echo(text, err=True))
    before = datetime.now(timezone.utc) - timedelta(days=older_than)
    for table in sorted(busy_tables(loaded)):
        click.echo(f"left alone: {table}, a run of it is under way", err=True)
    found = []
    for leftover in cleanable(loaded, engine, Limits(keep=keep, before=before)):
        found.append(leftover)
        if yes:
            click.echo(f"removing {leftover.kind} of {leftover.table}", err=True)
            leftover.remove()
    if output == "json":
        documents = [
            {"kind": each.kind, "table": each.table, "what": each.what, "why": each.why}
            for each in found
        ]
        print_document({"removed": yes, "leftovers": documents})
        return
    if not found:
        click.echo("nothing to clean")
        return
    print_table(
        ["kind", "table", "what", "why"],
        [[each.kind, each.table, each.what, each.why] for each in found],
    )
    click.echo("removed" if yes else "next: setpoint clean --yes removes these")
