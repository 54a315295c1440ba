"""`setpoint history`."""

from __future__ import annotations

from pathlib import Path

import click

from setpoint.cli.output import output_option, print_document, print_table, project_option
from setpoint.cli.records import open_records, run_document
from setpoint.cli.words import count_text, moment_text, seconds_text, window_text


@click.command("history")
@click.argument("task", required=False)
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Runs shown."
)
@output_option
@project_option
def command(task: str | None, limit: int, output: str, project: str) -> None:
    """List every run, newest first, with its attempts. Reads the ledger only."""
    with open_records(Path(project)) as ledger:
        runs = ledger.runs(task, limit=limit)
        if output == "json":
            documents = []
            for run in runs:
                attempts = [
                    {
                        "number": attempt.number,
                        "fence": attempt.fence,
                        "state": attempt.state,
                        "seconds": attempt.seconds,
                        "error": attempt.error,
                        "error_kind": attempt.error_kind,
                    }
                    for attempt in ledger.attempts(run.run_id)
                ]
                documents.append(
                    {
                        **run_document(run),
                        "fingerprint": run.fingerprint,
                        "started_at": run.started_at.isoformat().replace("+00:00", "Z"),
                        "detail": dict(run.detail),
                        "tries": attempts,
                    }
                )
            print_document({"runs": documents})
            return
    if not runs:
        click.echo(f"no runs of {task}" if task else "nothing has run yet")
        click.echo("next: setpoint run")
        return
    rows = [
        [
            moment_text(run.started_at),
            run.task,
            window_text(run.window_start, run.window_end),
            run.state,
            str(run.attempts),
            count_text(run.rows),
            seconds_text(run.seconds),
            run.snapshot or "",
            run.fingerprint[:8],
            run.run_id[:13],
            run.error or "",
        ]
        for run in runs
    ]
    columns = ["started", "task", "window", "state", "attempts", "rows", "time", "snapshot"]
    columns += ["code", "run", "error"]
    print_table(columns, rows, right=["attempts", "rows", "time"])
