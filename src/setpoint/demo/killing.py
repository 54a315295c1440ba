"""Real processes, really killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from setpoint.errors import EngineFailed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATIENCE = 120.0
GLANCE = 0.002


def start(*arguments: str, log: Path) -> subprocess.Popen[str]:
    """A process of its own group: Python and the JVM that it starts."""
    with log.open("a", encoding="utf-8") as file:
        return subprocess.Popen(
            [sys.executable, "-m", *arguments],
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
            start_new_session=True,
        )


def kill(process: subprocess.Popen[str]) -> None:
    """SIGKILL to the whole group: nothing can clean up after itself."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def kill_after_line(process: subprocess.Popen[str], line: str) -> None:
    """Kill the process when it prints a line."""
    assert process.stdout is not None  # noqa: S101 — start() pipes it
    for printed in process.stdout:
        if printed.strip() == line:
            kill(process)
            return
    raise EngineFailed(f"the process ended with code {process.wait()} before it printed {line!r}")


def kill_when(process: subprocess.Popen[str], happened: Callable[[], bool]) -> bool:
    """Kill the process as soon as something has happened; False when it ended before."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if happened():
            kill(process)
            return True
        if process.poll() is not None:
            return False
        time.sleep(GLANCE)
    kill(process)
    raise EngineFailed("the process took too long to begin its write")


def finish(process: subprocess.Popen[str]) -> None:
    """Wait for the process to end well."""
    process.communicate()
    if process.returncode:
        raise EngineFailed(f"the process ended with code {process.returncode}")
