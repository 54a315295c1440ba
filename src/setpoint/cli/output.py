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
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()
) -> None:
    """Print a table: drawn on a terminal, aligned columns in a pipe."""
    if not sys.stdout.isatty():
        _print_plain(columns, rows, right)
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        # Text, not markup: a table or an error may be called anything.
        table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    console().print(table)


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
