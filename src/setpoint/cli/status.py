"""`setpoint status`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from setpoint.cli.output import output_option, print_document, print_table, project_option
from setpoint.cli.records import run_document
from setpoint.cli.words import count_text, moment_text, window_text

if TYPE_CHECKING:
    from setpoint.ledger.protocol import LedgerReader
    from setpoint.model.delivery import Delivery

RECENT = 20


@click.command("status")
@click.argument("task", required=False)
@click.option(
    "--limit", type=click.IntRange(min=1), default=RECENT, show_default=True, help="Windows shown."
)
@click.option(
    "--state", type=click.Choice(["running", "succeeded", "failed"]), help="Only these windows."
)
@output_option
@project_option
def command(task: str | None, limit: int, state: str | None, output: str, project: str) -> None:
    """Show where each task stands: the latest run of each window. Reads the ledger only."""
    from setpoint.cli.records import open_records

    with open_records(Path(project)) as ledger:
        latest = ledger.latest(task, state=state, limit=limit)  # type: ignore[arg-type]
        held = _held_effects(ledger, task)
        if output == "json":
            from setpoint.cli.effects import document

            runs = [run_document(run) for run in latest]
            print_document({"runs": runs, "effects": [document(each) for each in held]})
            return
        if not latest:
            click.echo("nothing has run yet" if not (task or state) else "no such windows")
            _print_effects(held)
            click.echo("next: setpoint run")
            return
        _print_summary(ledger, task)
        rows = [
            [
                run.task,
                window_text(run.window_start, run.window_end),
                run.state,
                str(run.attempts),
                count_text(run.rows),
                moment_text(run.finished_at or run.started_at),
                run.error or "",
            ]
            for run in latest
        ]
    columns = ["task", "window", "state", "attempts", "rows", "at", "error"]
    print_table(columns, rows, right=["attempts", "rows"], spare=["attempts", "rows"])
    _print_effects(held)
    failed = next((run for run in latest if run.state == "failed"), None)
    if failed:
        click.echo(f"next: setpoint history {failed.task}")


def _held_effects(ledger: LedgerReader, task: str | None) -> list[Delivery]:
    """What was to be sent and is not known to have arrived."""
    standing = {
        tally.state
        for tally in ledger.outbox.tallies()
        if task in (None, tally.task) and tally.state != "sent"
    }
    if not standing:
        return []
    from setpoint.cli.effects import shown_deliveries

    return [
        each
        for state in ("unknown", "failed", "pending")
        if standing & {state, "sending"}
        for each in shown_deliveries(ledger.outbox, state=state, task=task, limit=RECENT)
    ]


def _print_effects(held: list[Delivery]) -> None:
    if not held:
        return
    from setpoint.cli.effects import next_lines

    click.echo()
    rows = [
        [
            each.key[:12],
            each.task,
            window_text(each.window_start, each.window_end),
            each.effect,
            each.state,
            each.error or "",
        ]
        for each in held[:RECENT]
    ]
    print_table(["effect key", "task", "window", "effect", "state", "error"], rows)
    for line in next_lines(held):
        click.echo(line)


def _print_summary(ledger: LedgerReader, task: str | None) -> None:
    rows = [
        [
            entry.task,
            count_text(entry.windows),
            count_text(entry.succeeded),
            count_text(entry.failed),
            count_text(entry.running),
            count_text(entry.rows),
            moment_text(entry.last_success),
        ]
        for entry in ledger.summary()
        if task in (None, entry.task)
    ]
    columns = ["task", "windows", "succeeded", "failed", "running", "rows", "last success"]
    print_table(columns, rows, right=columns[1:6])
    click.echo()
