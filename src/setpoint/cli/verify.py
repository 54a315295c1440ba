"""`setpoint verify`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from setpoint.cli.output import output_option, print_document, project_option
from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from setpoint.verifying.verdict import Verdict


@click.command("verify")
@click.argument("tasks", nargs=-1, metavar="[TASK]…")
@click.option("--ds", metavar="DATE", help="The date to run for.")
@click.option(
    "--checks",
    multiple=True,
    metavar="NAMES",
    help="Make these checks only, by name, with commas. All when left out.",
)
@click.option(
    "--changed-since",
    metavar="GIT_REF",
    help="Only tasks whose code is another than at this commit.",
)
@click.option("--command", metavar="CMD", help="Verify a command from outside; {ds} is the date.")
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TABLE_OR_URL",
    help="What the command writes to; it is kept first and put back at the end.",
)
@click.option("--setup", metavar="CMD", help="Run this once, before the targets are kept.")
@click.option(
    "--record",
    multiple=True,
    metavar="VARIABLE",
    help="A variable with the address that the command sends to; a recorder answers there.",
)
@click.option(
    "--kills",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="How many random moments to kill the command at.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Decides those moments.")
@click.option("--junit", type=click.Path(path_type=Path), help="Write JUnit XML to this file.")
@click.option("--html", type=click.Path(path_type=Path), help="Write one HTML page to this file.")
@output_option
@project_option
def command(
    tasks: tuple[str, ...],
    ds: str | None,
    checks: tuple[str, ...],
    changed_since: str | None,
    command: str | None,
    targets: tuple[str, ...],
    setup: str | None,
    record: tuple[str, ...],
    kills: int,
    seed: int,
    junit: Path | None,
    html: Path | None,
    output: str,
    project: str,
) -> None:
    """Prove that tasks, or any command, can be run twice.

    Tasks run on copies of their targets, never on the live ones. A command runs on its own
    targets, which are kept first and put back at the end; its script may be in any language.

    Exit codes: 0 idempotent, 1 not, 2 wrong use.
    """
    say = _sayer(output)
    if command is None:
        for name, given in (("--target", targets), ("--setup", setup), ("--record", record)):
            if given:
                raise UsageError(
                    f"{name} goes with --command",
                    next_step='setpoint verify --command "python job.py {ds}" --target shop.db',
                )
        from setpoint.verifying.project_verification import verify_project

        verdicts = verify_project(
            Path(project), tasks=tasks, ds=ds, checks=checks, changed_since=changed_since, say=say
        )
    else:
        if tasks or changed_since:
            raise UsageError("--command and tasks exclude each other", next_step="give one of them")
        from setpoint.verifying.blackbox.verification import verify_command

        verdict = verify_command(
            command,
            targets=targets,
            ds=ds,
            setup=setup,
            checks=checks,
            record=record,
            kills=kills,
            seed=seed,
            say=say,
        )
        verdicts = (verdict,)
    _show(verdicts, output, junit, html)
    if not all(verdict.idempotent and not verdict.fed_by for verdict in verdicts):
        raise click.exceptions.Exit(1)


def _show(verdicts: Sequence[Verdict], output: str, junit: Path | None, html: Path | None) -> None:
    from setpoint.verifying.reports.junit import junit_report
    from setpoint.verifying.reports.page import page_report
    from setpoint.verifying.reports.text import text_report
    from setpoint.verifying.verdict import verdict_document

    for path, report in ((junit, junit_report), (html, page_report)):
        if path is not None:
            try:
                path.write_text(report(verdicts), encoding="utf-8")
            except OSError as error:
                raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    if output == "json":
        print_document({"verdicts": [verdict_document(verdict) for verdict in verdicts]})
        return
    if not verdicts:
        click.echo("no task has changed")
    # A terminal breaks lines anywhere; in a pipe they stay whole.
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in text_report(verdicts, width=width):
        click.echo(_coloured(line))


def _coloured(line: str) -> str:
    """Colours where a terminal shows them; click leaves them out of pipes."""
    word = line.lstrip()
    if word.startswith(("NOT IDEMPOTENT", "✗")):
        return click.style(line, fg="red", bold=not line.startswith(" "))
    if word.startswith(("IDEMPOTENT", "✓")):
        return click.style(line, fg="green", bold=not line.startswith(" "))
    if word.startswith(("NO VERDICT", "! ")):
        return click.style(line, fg="yellow")
    return line


def _sayer(output: str) -> Callable[[str], None]:
    """Progress goes to standard error: live on a terminal, nothing for JSON."""
    if output == "json":
        return lambda _text: None
    if not sys.stderr.isatty():
        return lambda text: click.echo(text, err=True)

    def live(text: str) -> None:
        click.echo(f"\r\x1b[K{text} …", err=True, nl=False)
        if text.startswith("done"):
            click.echo("\r\x1b[K", err=True, nl=False)

    return live
