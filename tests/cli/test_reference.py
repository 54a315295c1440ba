"""The reference of the commands is current."""

from __future__ import annotations

from pathlib import Path

from setpoint.cli.reference import reference


def test_the_page_is_what_the_commands_say() -> None:
    """`make docs` writes docs/cli.md; this fails when a command changed and the page did not."""
    page = Path(__file__).parents[2] / "docs" / "cli.md"
    assert page.read_text(encoding="utf-8") == reference()
