"""`setpoint audit`: which pipelines of a repository can be run twice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from setpoint.auditing.driver import Audited, Wish
    from setpoint.auditing.outcome import Outcome

# Named here, not read from sqlglot: --help must not import it.
DIALECTS = (
    "snowflake", "bigquery", "postgres", "spark", "databricks", "redshift", "tsql", "mysql",
    "duckdb", "trino", "sqlite", "oracle",
)  # fmt: skip


@click.command("audit")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--select", multiple=True, metavar="RULES", help="List only these: W01,T or a name.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Leave these out.")
@click.option(
    "--output",
    type=click.Choice(["text", "json", "sarif", "html", "markdown"]),
    default="text",
    show_default=True,
    help="The shape of the report.",
)
@click.option(
    "--output-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the report here.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Findings in this file are known; only new ones count.",
)
@click.option("--write-baseline", is_flag=True, help="Write today's findings to --baseline.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    default="error",
    show_default=True,
    help="Exit with 1 for findings this bad or worse.",
)
@click.option("--feeds", metavar="TABLE", help="Only what lies upstream of this table.")
@click.option("--dialect", type=click.Choice(DIALECTS), help="The SQL dialect, if one is to win.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes; all cores.")
@click.option("--fix", is_flag=True, help="Apply the fixes that are mechanical and safe.")
@click.option("--diff", is_flag=True, help="Show those fixes as a diff; write nothing.")
@click.option("--emit-task", metavar="PIPELINE", help="Draft a Setpoint task for a pipeline.")
@click.option("--no-cache", is_flag=True, help="Read every file anew.")
@click.option("--list-rules", is_flag=True, help="List the rules and stop.")
@click.option("--explain-rule", metavar="RULE", help="Explain a rule and stop.")
def command(
    *,
    paths: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    output: str,
    output_file: Path | None,
    baseline: Path | None,
    write_baseline: bool,
    fail_on: str,
    feeds: str | None,
    dialect: str | None,
    jobs: int | None,
    fix: bool,
    diff: bool,
    emit_task: str | None,
    no_cache: bool,
    list_rules: bool,
    explain_rule: str | None,
) -> None:
    """Find the pipelines of a repository that cannot be run twice.

    Reads SQL, dbt projects, Airflow, Dagster, Prefect, PySpark and notebooks. Runs and imports
    nothing of what it reads.

    Exit codes: 0 clean, 1 findings at or above --fail-on, 2 wrong use.
    """
    from setpoint.auditing.rules.registry import RULES

    if list_rules or explain_rule:
        from setpoint.cli import audit_rules

        audit_rules.show(list(RULES), explain_rule)
        return
    if write_baseline and baseline is None:
        raise UsageError(
            "--write-baseline needs to know where to.",
            next_step="setpoint audit PATH --baseline setpoint-baseline.json --write-baseline",
        )
    if not paths:
        raise UsageError("Which files? No PATH was given.", next_step="setpoint audit .")

    from setpoint.auditing.driver import Wish, audit
    from setpoint.cli.audit_progress import Progress

    wish = Wish(
        paths=paths,
        rules=tuple(RULES),
        select=select,
        ignore=ignore,
        dialect=dialect,
        processes=jobs,
        cached=not no_cache,
        feeds=feeds,
        baseline=None if write_baseline else baseline,
    )
    with Progress() as progress:
        audited = audit(wish, on_progress=progress)
    if emit_task:
        _emit(audited, emit_task)
        return
    if diff:
        _show_diff(audited)
    elif fix:
        audited = _fix(audited, wish)
    if write_baseline and baseline is not None:
        _write_baseline(audited, baseline)
        return
    if not diff:
        _show(audited.outcome, output, output_file)
    if audited.outcome.fails(fail_on):
        raise click.exceptions.Exit(1)


def _show(outcome: Outcome, output: str, output_file: Path | None) -> None:
    from setpoint.cli import audit_output

    audit_output.show(outcome, output, output_file)


def _emit(audited: Audited, name: str) -> None:
    from setpoint.auditing.driver import draft_of

    click.echo(draft_of(audited, name), nl=False)


def _show_diff(audited: Audited) -> None:
    from setpoint.auditing.fixing import diff_text, plan_patches

    patches = plan_patches(audited.outcome.report.findings, audited.texts)
    click.echo(diff_text(patches), nl=False)
    count = sum(len(patch.fixed) for patch in patches)
    step = "the same command with --fix in place of --diff" if count else "fix by hand"
    click.echo(
        f"{count} of {len(audited.outcome.report.findings)} findings; next: {step}", err=True
    )


def _fix(audited: Audited, wish: Wish) -> Audited:
    """Apply what is mechanical, then look again: the report is about what is left."""
    from setpoint.auditing.driver import audit
    from setpoint.auditing.fixing import plan_patches, write_patches
    from setpoint.auditing.reports.wording import plural

    patches = plan_patches(audited.outcome.report.findings, audited.texts)
    if not patches:
        return audited
    write_patches(patches, audited.root)
    count = sum(len(patch.fixed) for patch in patches)
    fixed, files = plural(count, "finding"), plural(len(patches), "file")
    click.echo(f"Fixed {fixed} in {files}.", err=True)
    return audit(wish)


def _write_baseline(audited: Audited, place: Path) -> None:
    from setpoint.auditing.baseline import baseline_text, known_from

    known = known_from(audited.outcome.report.findings, audited.outcome.lines)
    place.write_text(baseline_text(known), encoding="utf-8")
    click.echo(f"Wrote {len(known)} known findings to {place}.")
    click.echo(f"next: setpoint audit {audited.outcome.asked} --baseline {place}")
