"""`setpoint demo`."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from setpoint.cli.output import console, print_table
from setpoint.cli.words import seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.demo.story import Moral


@click.command("demo")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to keep the demo's project; a new temporary folder when left out.",
)
def command(folder: Path | None) -> None:
    """Tell the incident that Setpoint is for: a nightly job that dies, and its retry.

    Real data, real processes, really killed. Takes about a minute.
    """
    from setpoint.demo.story import Story

    begun = time.monotonic()
    place = folder or Path(tempfile.mkdtemp(prefix="setpoint-demo-"))
    if any(place.glob("*")):
        raise click.UsageError(f"{place} is not empty; choose a new folder")
    moral = Story(place, Terminal()).tell()
    _print_moral(moral)
    click.echo(f"told in {seconds_text(time.monotonic() - begun)}")
    word = typed_name()
    click.echo(f"next: cd {place} && {word} history     what the ledger remembers of it")
    click.echo(f"      {word} init shop && cd shop && {word} run     a project of your own")
    if not moral.holds:
        raise SystemExit(1)


def typed_name() -> str:
    """How this command is typed from any folder: `make demo` leaves its place off the path."""
    asked = Path(sys.argv[0])
    if shutil.which("setpoint") or asked.name != "setpoint":
        return "setpoint"
    return shlex.quote(str(asked.absolute()))


def _print_moral(moral: Moral) -> None:
    click.echo()
    print_table(
        ["2026-04-25", "appending", "with Setpoint"],
        [
            ["rows seen after the crash", f"{moral.naive_died:,}", f"{moral.died_rows:,}"],
            ["rows after the retry", f"{moral.naive_rows:,}", f"{moral.rows:,}"],
            ["revenue after the retry", moral.revenue_naive, moral.revenue],
            [f"content of {len(moral.checksums)} runs", "", _sameness(moral.checksums)],
            ["days before and after", "", "untouched" if moral.neighbours_same else "CHANGED"],
        ],
        right=["appending", "with Setpoint"],
    )


def _sameness(checksums: tuple[str, ...]) -> str:
    return "one checksum" if len(set(checksums)) == 1 else " ≠ ".join(checksums)


class Terminal:
    """Tells the story on a terminal, or as plain lines in a pipe."""

    def __init__(self) -> None:
        self.live = sys.stdout.isatty()
        self.console = console()

    def chapter(self, title: str) -> None:
        """A heading."""
        click.echo()
        click.echo(click.style(title, bold=True))

    def tell(self, text: str) -> None:
        """A line."""
        click.echo(f"  {text}")

    @contextmanager
    def working(self, text: str) -> Iterator[None]:
        """A spinner, or a line in a pipe."""
        if self.live:
            with self.console.status(f"  {text} …"):
                yield
        else:
            click.echo(f"  {text} …")
            yield
