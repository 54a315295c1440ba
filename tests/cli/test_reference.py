"""The reference of the commands is current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_page_is_what_the_commands_say() -> None:
    """`make docs` writes docs/cli.md; this fails when a command changed and the page did not."""
    page = Path(__file__).parents[2] / "docs" / "cli.md"
    command = [sys.executable, "-m", "setpoint.cli.reference"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert page.read_text(encoding="utf-8") == shown
