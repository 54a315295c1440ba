"""`setpoint backfill`: a range of history again, and what to do with one that is under way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from setpoint.cli.output import output_option, print_document, print_table, project_option

if TYPE_CHECKING:
    from setpoint.backfilling.result import BackfillResult
    from setpoint.ledger.backfill import Backfill

RUN = "run"


class RunByDefault(click.Group):
    """A group whose arguments are those of `run`, unless they begin with another command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `run` in front where no command is named."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [RUN, *args]
        return super().parse_args(ctx, args)


@click.group("backfill", cls=RunByDefault)
def command() -> None:
    """Set a range of windows again: `setpoint backfill TASK… --start … --end …`.

    The same command goes on where it was stopped. `setpoint backfill run --help` lists the flags.
    """


@command.command(RUN)
@click.argument("tasks", nargs=-1, required=True, metavar="TASK…")
@click.option("--start", metavar="DATE", help="Every window from here …")
@click.option("--end", metavar="DATE", help="… to here, exclusive.")
@click.option("--with-upstream", is_flag=True, help="Also what these tasks read, before them.")
@click.option("--with-downstream", is_flag=True, help="Also what reads these tasks, after them.")
@click.option("--run-backwards", is_flag=True, help="Newest windows first.")
@click.option("--max-active-runs", type=click.IntRange(min=1), help="Spark jobs at once.")
@click.option("--pool", metavar="NAME", help="A pool of setpoint.toml; its limit is for all.")
@click.option("--batch-size", type=click.IntRange(min=1), help="The most windows in one job.")
@click.option(
    "--reprocess-behavior",
    type=click.Choice(["none", "failed", "completed"]),
    help="Also windows that failed (the default), or all; none: only those that never ran.",
)
@click.option("--missing", is_flag=True, help="Only windows that never ran.")
@click.option("--failed", is_flag=True, help="Only windows that failed.")
@click.option("--stale", is_flag=True, help="Only windows whose code or inputs changed since.")
@click.option("--shadow", is_flag=True, help="Write aside; then diff, and publish or discard.")
@click.option(
    "--effects",
    type=click.Choice(["send", "skip", "record"]),
    default="skip",
    show_default=True,
    help="Send the windows' messages, skip them, or record them for `setpoint effects send`.",
)
@click.option("--tag", "tags", multiple=True, metavar="K=V", help="What the cost is for.")
@click.option("--requested-by", metavar="WHO", help="Who asks for it.")
@click.option("--reason", metavar="TEXT", help="Why.")
@click.option(
    "--check",
    is_flag=True,
    help="Set a window of a month ago aside and compare it with what is there.",
)
@click.option("--dry-run", is_flag=True, help="Show the plan, and stop.")
@output_option
@project_option
def run(
    tasks: tuple[str, ...],
    start: str | None,
    end: str | None,
    with_upstream: bool,
    with_downstream: bool,
    run_backwards: bool,
    max_active_runs: int | None,
    pool: str | None,
    batch_size: int | None,
    reprocess_behavior: str | None,
    missing: bool,
    failed: bool,
    stale: bool,
    shadow: bool,
    effects: str,
    tags: tuple[str, ...],
    requested_by: str | None,
    reason: str | None,
    check: bool,
    dry_run: bool,
    output: str,
    project: str,
) -> None:
    """Set every window of a range again, in few Spark jobs, each window with its outcome."""
    from setpoint.backfilling.request import parse_tags
    from setpoint.errors import UsageError

    if check:
        from setpoint.cli.backfill_shadow import show_check

        show_check(tasks, Path(project), start=start, end=end, output=output)
        return
    if start is None or end is None:
        raise UsageError(
            "--start and --end are needed",
            next_step="--end is exclusive: --start 2026-04-01 --end 2026-05-01",
        )
    from setpoint.backfilling.project_backfill import backfill
    from setpoint.cli.backfill_progress import listener_for

    only = {"missing": missing, "failed": failed, "stale": stale}
    result = backfill(
        *tasks,
        start=start,
        end=end,
        folder=Path(project),
        with_upstream=with_upstream,
        with_downstream=with_downstream,
        run_backwards=run_backwards,
        max_active_runs=max_active_runs,
        pool=pool,
        batch_size=batch_size,
        reprocess_behavior=reprocess_behavior,  # type: ignore[arg-type]
        only=[name for name, given in only.items() if given],  # type: ignore[misc]
        shadow=shadow,
        effects=effects,  # type: ignore[arg-type]
        tags=parse_tags(tags),
        requested_by=requested_by,
        reason=reason,
        dry_run=dry_run,
        listener=listener_for(output),
    )
    show_result(result, output)


@command.command("status")
@click.argument("backfill_id", required=False, metavar="[ID]")
@output_option
@project_option
def status(backfill_id: str | None, output: str, project: str) -> None:
    """Show the last backfills, or one with its jobs. Reads the ledger only."""
    from setpoint.cli.backfill_status import show_backfill, show_backfills
    from setpoint.cli.records import open_records

    with open_records(Path(project)) as ledger:
        if backfill_id is None:
            show_backfills(ledger, output)
        else:
            show_backfill(ledger, backfill_id, output)


@command.command("pause")
@click.argument("backfill_id", metavar="ID")
@project_option
def pause(backfill_id: str, project: str) -> None:
    """Let the jobs that run come to their end, and begin no more."""
    found = _wish(backfill_id, "pause", project)
    click.echo(f"backfill {found.backfill_id} {_heard(found, 'pauses after its running jobs')}")
    click.echo(f"next: setpoint backfill resume {found.backfill_id}")


@command.command("cancel")
@click.argument("backfill_id", metavar="ID")
@project_option
def cancel(backfill_id: str, project: str) -> None:
    """End a backfill for good; windows that are done stay as they are."""
    found = _wish(backfill_id, "cancel", project)
    click.echo(f"backfill {found.backfill_id} {_heard(found, 'ends after its running jobs')}")


@command.command("resume")
@click.argument("backfill_id", metavar="ID")
@click.option("--max-active-runs", type=click.IntRange(min=1), help="Spark jobs at once.")
@output_option
@project_option
def resume(backfill_id: str, max_active_runs: int | None, output: str, project: str) -> None:
    """Go on with a backfill that was paused or stopped: only what is missing."""
    from setpoint.backfilling.resuming import resume_backfill
    from setpoint.cli.backfill_progress import listener_for

    result = resume_backfill(
        backfill_id,
        folder=Path(project),
        max_active_runs=max_active_runs,
        listener=listener_for(output),
    )
    show_result(result, output)


@command.command("diff")
@click.argument("backfill_id", metavar="ID")
@output_option
@project_option
def diff(backfill_id: str, output: str, project: str) -> None:
    """Compare what a backfill has written aside with what readers have."""
    from setpoint.backfilling.publishing import compare_shadow
    from setpoint.cli.backfill_shadow import show_comparisons, teller

    found = compare_shadow(backfill_id, folder=Path(project), say=teller(output))
    show_comparisons(found, output)


@command.command("publish")
@click.argument("backfill_id", metavar="ID")
@output_option
@project_option
def publish(backfill_id: str, output: str, project: str) -> None:
    """Put what was written aside in the place of what readers have: one commit a table."""
    from setpoint.backfilling.publishing import publish_shadow
    from setpoint.cli.backfill_shadow import teller

    done = publish_shadow(backfill_id, folder=Path(project), say=teller(output))
    if output == "json":
        print_document({"published": [each.document() for each in done]})
        return
    print_table(
        ["task", "windows", "rows", "replaced", "snapshot"],
        [
            [each.task, f"{each.windows:,}", f"{each.rows:,}", f"{each.replaced:,}", each.snapshot]
            for each in done
        ],
        right=["windows", "rows", "replaced"],
    )


@command.command("discard")
@click.argument("backfill_id", metavar="ID")
@project_option
def discard(backfill_id: str, project: str) -> None:
    """Drop what was written aside; readers never saw it."""
    from setpoint.backfilling.publishing import discard_shadow
    from setpoint.cli.backfill_shadow import teller

    for table in discard_shadow(backfill_id, folder=Path(project), say=teller("text")):
        click.echo(f"dropped {table}")


def show_result(result: BackfillResult, output: str) -> None:
    """The plan, or what came of it, and exit code 1 for windows that failed."""
    if output == "json":
        print_document(result.document() if result.state != "planned" else result.plan.document())
    else:
        from setpoint.cli.backfill_words import result_lines

        for line in result_lines(result):
            click.echo(line)
    if result.state == "failed":
        raise SystemExit(1)


def _wish(backfill_id: str, wish: str, project: str) -> Backfill:
    from setpoint.ledger.opening import open_ledger
    from setpoint.project.project import open_settings

    settings = open_settings(Path(project))
    with open_ledger(settings.ledger_url, root=settings.root, create=True) as ledger:
        return ledger.backfills.wish(backfill_id, wish)  # type: ignore[arg-type]


def _heard(found: Backfill, words: str) -> str:
    return words if found.state == "running" else f"is {found.state}"
