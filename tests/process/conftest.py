"""Real processes: the command as a person types it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 240


class Shell:
    """Runs `setpoint` in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self, *arguments: str, code: int = 0, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the command and insist on its exit code."""
        done = subprocess.run(
            [sys.executable, "-m", "setpoint", *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env={**os.environ, **(env or {})},
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        return done


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """The command line in an empty folder."""
    return Shell(tmp_path)
