"""`setpoint run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from setpoint.cli.output import output_option, print_document, project_option

if TYPE_CHECKING:
    from setpoint.model.effect import Policy
    from setpoint.model.plan import Plan


@click.command("run")
@click.option("--select", multiple=True, metavar="TASK", help="Run this task and what it reads.")
@click.option(
    "--ds",
    metavar="DATE",
    help="Run for the window that this date lies in; for hours, all of the date's.",
)
@click.option("--start", metavar="DATE", help="Run for every window from here …")
@click.option("--end", metavar="DATE", help="… to here, exclusive.")
@click.option(
    "--as-of-run",
    metavar="RUN_ID",
    help="Run that run's task and window again, on the source snapshots that it read.",
)
@click.option("--checksum", is_flag=True, help="Compute the content checksum of what was set.")
@click.option(
    "--allow-unsafe-retry",
    is_flag=True,
    help="Let tasks retry that are not known to be idempotent.",
)
@click.option(
    "--effects",
    type=click.Choice(["send", "skip", "record"]),
    help="Send what tasks have to send, skip it, or record it for `setpoint effects send`."
    "  [default: send, but what was skipped before stays skipped]",
)
@click.option(
    "--no-wait",
    is_flag=True,
    help="Refuse a window that another process is at work on, instead of waiting for it.",
)
@click.option("--dry-run", is_flag=True, help="Show what would run, and stop.")
@output_option
@project_option
def command(
    select: tuple[str, ...],
    ds: str | None,
    start: str | None,
    end: str | None,
    as_of_run: str | None,
    checksum: bool,
    allow_unsafe_retry: bool,
    effects: Policy | None,
    no_wait: bool,
    dry_run: bool,
    output: str,
    project: str,
) -> None:
    """Run tasks, upstream first, for a window or a range of windows.

    A window is set, not added to: run it as often as you like.
    """
    if dry_run:
        from setpoint.model.plan import Dates
        from setpoint.running.loading import open_project
        from setpoint.running.project_run import plan_project

        plan = plan_project(
            open_project(Path(project), allow_unsafe_retry=allow_unsafe_retry),
            select=select,
            dates=Dates(ds=ds, start=start, end=end),
            as_of_run=as_of_run,
        )
        _show_plan(plan, output)
        return
    from setpoint.cli.failure import show_failure
    from setpoint.cli.progress import listener_for
    from setpoint.running.project_run import run_project

    results = run_project(
        Path(project),
        select=select,
        ds=ds,
        start=start,
        end=end,
        as_of_run=as_of_run,
        checksum=checksum,
        allow_unsafe_retry=allow_unsafe_retry,
        effects=effects,
        wait=not no_wait,
        listener=listener_for(output),
    )
    if output == "json":
        print_document({"runs": [result.document() for result in results]})
    failed = [result for result in results if result.state == "failed" and result.error]
    for result in failed:
        if result.error:
            show_failure(result.error)
    if failed or any(result.effects and result.effects.trouble for result in results):
        raise SystemExit(1)


def _show_plan(plan: Plan, output: str) -> None:
    from setpoint.cli.output import print_table
    from setpoint.running.result import iso

    if output == "json":
        steps = [
            {
                "task": step.task.name,
                "window_start": iso(step.window.start if step.window else None),
                "window_end": iso(step.window.end if step.window else None),
                "target": str(step.task.target),
                "pattern": step.task.write.name,
            }
            for step in plan.steps
        ]
        print_document({"steps": steps, "notes": list(plan.notes)})
        return
    for note in plan.notes:
        click.echo(note)
    rows = [
        [step.task.name, step.label, step.task.write.name, str(step.task.target)]
        for step in plan.steps
    ]
    print_table(["task", "window", "pattern", "target"], rows)
