"""`setpoint history`."""

from __future__ import annotations

from pathlib import Path

import click

from setpoint.cli.output import output_option, print_document, print_table, project_option
from setpoint.cli.records import open_records, run_document
from setpoint.cli.words import count_text, moment_text, seconds_text, window_text


@click.command("history")
@click.argument("task", required=False, metavar="[TASK|TABLE]")
@click.option(
    "--grain",
    is_flag=True,
    help="Count how often each partition of the table was written, from its own snapshots.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Runs shown."
)
@output_option
@project_option
def command(task: str | None, grain: bool, limit: int, output: str, project: str) -> None:
    """List every run, newest first, with its attempts. Reads the ledger only.

    With --grain: start Spark, and hold the writes of a table's partitions against the one run that
    each should have had, whoever wrote them.
    """
    if grain:
        _show_grain(Path(project), task, output)
        return
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
    spare = ["snapshot", "code", "attempts", "run", "time"]
    print_table(columns, rows, right=["attempts", "rows", "time"], spare=spare)


def _show_grain(folder: Path, name: str | None, output: str) -> None:
    from setpoint.errors import UsageError
    from setpoint.model.grain_diagnosis import diagnose_grain
    from setpoint.model.table import TableName
    from setpoint.project.project import open_settings
    from setpoint.running.loading import open_project
    from setpoint.running.project_run import spark_engine

    if name is None:
        raise UsageError("--grain needs a table", next_step="setpoint history TABLE --grain")
    # A table is named in full; one word is a task, which names its table.
    settings = open_settings(folder)
    table = TableName.parse(name) if "." in name else open_project(folder).graph.task(name).target
    if table.catalog not in settings.catalogs:
        raise UsageError(
            f"setpoint.toml has no catalog {table.catalog!r}",
            next_step=f"known: {', '.join(settings.catalogs)}",
        )
    engine = spark_engine(settings, say=lambda text: click.echo(text, err=True))
    diagnosis = diagnose_grain(engine.partition_writes(table))
    if output == "json":
        print_document({"table": str(table), **diagnosis.document()})
        return
    rows = [
        [
            day.day.isoformat(),
            count_text(day.partitions),
            count_text(day.writes),
            count_text(day.expected),
            count_text(day.most),
            count_text(day.by_setpoint),
        ]
        for day in diagnosis.days
    ]
    columns = ["day", "partitions", "writes", "expected", "most to one", "by Setpoint"]
    print_table(columns, rows, right=columns[1:])
    for problem in diagnosis.problems:
        click.echo(f"! {problem}")
    if not diagnosis.problems:
        click.echo("no partition was overwritten by a finer job")
