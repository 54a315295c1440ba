"""What was written aside, compared: in words or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from setpoint.cli.output import print_document, print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from setpoint.model.comparison import Comparison, WindowDiff

SHOWN = 40


def teller(output: str) -> Callable[[str], None]:
    """Says what takes a while, unless the output is for a program."""
    return (lambda _text: None) if output == "json" else click.echo


def show_comparisons(found: Mapping[str, Comparison], output: str) -> None:
    """By task: rows added, removed and changed in each window, sums, and a sample."""
    if output == "json":
        print_document({"tasks": {name: each.document() for name, each in found.items()}})
        return
    for name, each in found.items():
        show_comparison(name, each)


def show_comparison(name: str, found: Comparison) -> None:
    """One task's comparison in words."""
    differing = [each for each in found.windows if not each.same]
    windows = f"{len(found.windows):,} window{'s' if len(found.windows) != 1 else ''}"
    if not differing:
        click.echo(f"{name}: {windows}, no row differs")
        return
    click.echo(f"{name}: {len(differing):,} of {windows} differ")
    columns = ["window", "rows now", "rows then", "added", "removed", "changed"]
    print_table(
        columns,
        [[each.window.label, *(f"{n:,}" for n in _numbers(each))] for each in differing[:SHOWN]],
        right=columns[1:],
    )
    if len(differing) > SHOWN:
        click.echo(f"and {len(differing) - SHOWN:,} more windows; --output json lists all")
    for column, (before, after) in found.sums.items():
        if before != after:
            click.echo(f"  sum of {column}: {before} now, {after} then")
    for line in found.sample:
        click.echo(f"  {line}")


def show_check(
    tasks: Sequence[str], folder: Path, *, start: str | None, end: str | None, output: str
) -> None:
    """Set an old window aside, compare, and exit with 1 when it differs."""
    from setpoint.backfilling.checking import check_backfill

    checked = check_backfill(tasks, folder=folder, start=start, end=end, say=teller(output))
    if output == "json":
        print_document({"checks": [each.document() for each in checked]})
    else:
        for each in checked:
            show_comparison(f"{each.task}  {each.label}", each.comparison)
    if not all(each.comparison.same for each in checked):
        raise SystemExit(1)


def _numbers(each: WindowDiff) -> tuple[int, ...]:
    return each.before, each.after, each.added, each.removed, each.changed
