"""`setpoint explain`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from setpoint.cli.output import output_option, print_document, project_option

if TYPE_CHECKING:
    from setpoint.model.explanation import Explanation
    from setpoint.model.scope import Kinds
    from setpoint.model.task import Task
    from setpoint.project.project import Project


@click.command("explain")
@click.argument("task")
@click.option("--ds", metavar="DATE", help="Explain a run for this date.")
@click.option(
    "--analyze", is_flag=True, help="Start Spark and show the real types, bounds and hidden inputs."
)
@output_option
@project_option
def command(task: str, ds: str | None, analyze: bool, output: str, project: str) -> None:
    """Show what a task is and what a run of it would do. Writes nothing.

    A SQL task is explained without running any code of the project.
    """
    from setpoint.model.explanation import explain
    from setpoint.model.plan import Dates, task_windows

    loaded, sql_only = _load(Path(project), task)
    found = loaded.graph.task(task)
    # An empty text was given too, as in `run`: it must not mean the development date.
    dates = Dates(ds=ds) if ds is not None or found.development_date else None
    window = task_windows(found, dates)[0][0] if dates and found.grain else None
    analysis = None
    if analyze:
        from setpoint.running.project_run import spark_engine

        engine = spark_engine(loaded.settings, say=lambda text: click.echo(text, err=True))
        analysis = engine.analyse(found, window)
    known = _known_kinds(loaded, found)
    explanation = explain(
        found, window, loaded.graph, known=known, analysis=analysis, sql_only=sql_only
    )
    if output == "json":
        print_document(explanation.document())
    else:
        _print(explanation)


def _load(folder: Path, task: str) -> tuple[Project, bool]:
    """The SQL tasks alone, and true, when the task is one of them: then no code is run."""
    from setpoint.project.project import load_sql_project
    from setpoint.running.loading import kept_proof, open_project

    project = load_sql_project(folder, proof=kept_proof)
    return (project, True) if task in project.graph.tasks else (open_project(folder), False)


def _known_kinds(project: Project, task: Task) -> Kinds:
    """The kinds of the time columns as the last run of the same code met them."""
    from setpoint.ledger.opening import open_ledger
    from setpoint.model.scope import Kinds

    settings = project.settings
    with open_ledger(settings.ledger_url, root=settings.root, create=False) as ledger:
        for run in ledger.latest(task.name, state="succeeded", limit=1):
            if run.fingerprint == task.fingerprint:
                return Kinds.of_document(run.detail.get("kinds"))
    return Kinds()


def _print(explanation: Explanation) -> None:
    width = max(len(name) for name, _ in explanation.lines)
    for name, values in explanation.lines:
        for number, value in enumerate(values):
            label = name if number == 0 else ""
            click.echo(f"{click.style(label.ljust(width), bold=True)}  {value}")
    click.echo()
    click.echo(click.style(explanation.statement_title, bold=True))
    for line in explanation.statement.splitlines():
        click.echo(f"  {line}")
    click.echo(f"next: setpoint run --select {explanation.task}")
