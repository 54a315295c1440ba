"""Where the report of `setpoint audit` goes: a terminal, a pipe or a file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
from rich.console import Console

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import TextIO

    from rich.text import Text

    from setpoint.auditing.outcome import Outcome


def show(outcome: Outcome, output: str, place: Path | None) -> None:
    """Write the report; one that goes to a file leaves its summary on the terminal."""
    from setpoint.auditing.reports.text import summary_lines, text_lines

    if place is None:
        if output == "text":
            _print(text_lines(outcome), sys.stdout)
            return
        if output == "html" and sys.stdout.isatty():
            raise UsageError(
                "The page is for a browser, not for a terminal.",
                next_step=f"setpoint audit {outcome.asked} --output html --output-file fleet.html",
            )
        click.echo(_rendered(outcome, output), nl=False)
        return
    try:
        place.write_text(_rendered(outcome, output), encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(
            f"{place} cannot be written: {error.strerror or error}",
            next_step=None if place.parent.is_dir() else f"mkdir -p {place.parent}",
        ) from error
    _print(summary_lines(outcome), sys.stderr)
    click.echo(f"Wrote {place}", err=True)


def _rendered(outcome: Outcome, output: str) -> str:
    """The report as text; only the output that is asked for is imported."""
    if output == "json":
        from setpoint.auditing.reports.document import json_text

        return json_text(outcome)
    if output == "sarif":
        from setpoint.auditing.reports.sarif import sarif_text

        return sarif_text(outcome)
    if output == "html":
        from setpoint.auditing.reports.fleet_page import page_text

        return page_text(outcome)
    if output == "markdown":
        from setpoint.auditing.reports.markdown import markdown_text

        return markdown_text(outcome)
    from setpoint.auditing.reports.text import text_lines

    return "".join(f"{line.plain}\n" for line in text_lines(outcome))


def _print(lines: Iterable[Text], stream: TextIO) -> None:
    """Lines with colours on a terminal; in a pipe plain, whole and quick."""
    if not stream.isatty():
        for line in lines:
            click.echo(line.plain, file=stream)
        return
    console = Console(file=stream, highlight=False)
    for line in lines:
        console.print(line, soft_wrap=True)
