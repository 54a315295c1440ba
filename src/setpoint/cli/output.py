"""Text for people, JSON for programs: one choice for every command."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

output_option: Callable[[Any], Any] = click.option(
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Text for people, JSON for programs.",
)
project_option: Callable[[Any], Any] = click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=str),
    default=".",
    show_default=True,
    metavar="FOLDER",
    help="The project's folder, or one inside it.",
)


def print_document(document: Any) -> None:
    """Print JSON to standard output."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def console() -> Console:
    """A rich console on standard output; in a pipe it prints plain text, lines never folded."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    return Console(highlight=False, soft_wrap=not terminal)


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[str] = (),
    spare: Sequence[str] = (),
) -> None:
    """Print a table: drawn on a terminal, aligned columns in a pipe.

    A terminal too narrow for all columns does without the `spare` ones; pipes and JSON have all.
    """
    if not sys.stdout.isatty():
        _print_plain(columns, rows, right)
        return
    shown = fitting(columns, rows, width=console().width, spare=spare)
    rows = [
        [cell for name, cell in zip(columns, row, strict=True) if name in shown] for row in rows
    ]
    columns = shown
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        # Only the last column, which holds texts, is folded: a word cut in two is not read.
        whole = name != columns[-1] and _width(columns, rows, [columns[-1]]) < console().width
        table.add_column(
            name, justify="right" if name in right else "left", overflow="fold", no_wrap=whole
        )
    for row in rows:
        # Text, not markup: a table or an error may be called anything.
        table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    console().print(table)


def fitting(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, width: int, spare: Sequence[str]
) -> list[str]:
    """The columns that a terminal of this width shows: spare ones go first to last."""
    gone: list[str] = []
    for name in spare:
        if _width(columns, rows, [*gone, columns[-1]]) + LEAST_TEXT <= width:
            break
        gone.append(name)
    return [name for name in columns if name not in gone]


def _width(columns: Sequence[str], rows: Sequence[Sequence[str]], without: Sequence[str]) -> int:
    """How wide the drawn table is without some of its columns."""
    return sum(
        max(len(name), *(len(row[n]) for row in rows), 0) + GAP
        for n, name in enumerate(columns)
        if name not in without
    )


GAP = 3
LEAST_TEXT = 8
STYLES = {
    "succeeded": "green",
    "failed": "bold red",
    "skipped": "yellow",
    "running": "cyan",
    "ok": "green",
    "warning": "yellow",
}


def _print_plain(
    columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str]
) -> None:
    cells = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(columns))]
    for row in cells:
        line = "  ".join(
            text.rjust(width) if name in right else text.ljust(width)
            for name, text, width in zip(columns, row, widths, strict=True)
        )
        click.echo(line.rstrip())
