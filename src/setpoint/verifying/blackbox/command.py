"""Running somebody's command: whole, or killed at a moment of our choice."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PATIENCE = 3600.0
GLANCE = 0.001
"""Seconds between two looks at the target of a command that runs."""
SAID = 400
CLOCK = Path(__file__).with_name("moved_clock")


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a command ended."""

    code: int
    seconds: float
    said: str
    """The end of what it printed."""
    killed: bool = False
    moved: bool = False
    """Its clock was moved as asked."""

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.code == 0 and not self.killed


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command line with `{ds}` in the place of the date."""

    line: str
    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    """Set for every run, over those of this process."""

    @property
    def dated(self) -> bool:
        """Whether the command takes a date."""
        return "{ds}" in self.line or "{next_ds}" in self.line

    def words(self, ds: str) -> list[str]:
        """The words of the command for a date; no shell reads them."""
        try:
            words = shlex.split(self.line)
        except ValueError as error:
            raise UsageError(f"--command cannot be read: {error}") from None
        if not words:
            raise UsageError("--command is empty", next_step='--command "python job.py {ds}"')
        after = (date.fromisoformat(ds) + timedelta(days=1)).isoformat()
        return [word.replace("{ds}", ds).replace("{next_ds}", after) for word in words]

    def run(
        self,
        ds: str,
        *,
        variables: Mapping[str, str] | None = None,
        clock: str | None = None,
        stop: Callable[[float], bool] | None = None,
    ) -> Ran:
        """Run it to its end, or kill its whole process group when `stop` says so.

        `stop` is asked again and again with the seconds since the start; it may look at targets.
        """
        given = {**os.environ, **self.variables, **(variables or {})}
        with tempfile.TemporaryDirectory(prefix="setpoint-verify-") as scratch:
            moved = Path(scratch) / "moved"
            if clock is not None:
                path = given.get("PYTHONPATH")
                given |= {
                    "PYTHONPATH": f"{CLOCK}{os.pathsep}{path}" if path else str(CLOCK),
                    "SETPOINT_VERIFY_CLOCK": clock,
                    "SETPOINT_VERIFY_MOVED": str(moved),
                }
            with (Path(scratch) / "said").open("w+b") as output:
                ran = self._carried(self.words(ds), given, output.fileno(), stop)
                output.seek(0)
                said = output.read().decode(errors="replace").strip()[-SAID:]
            return Ran(
                code=ran.code,
                seconds=ran.seconds,
                said=said,
                killed=ran.killed,
                moved=moved.exists(),
            )

    def _carried(
        self,
        words: list[str],
        variables: dict[str, str],
        output: int,
        stop: Callable[[float], bool] | None,
    ) -> Ran:
        begun = time.monotonic()
        try:
            process = subprocess.Popen(
                words,
                cwd=self.folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # its children are killed with it
            )
        except OSError as error:
            raise UsageError(
                f"the command cannot be started: {error.strerror}: {words[0]}",
                next_step="check --command; it is started without a shell",
            ) from None
        killed = False
        try:
            while process.poll() is None:
                passed = time.monotonic() - begun
                if passed > PATIENCE or (stop is not None and stop(passed)):
                    killed = True
                    _kill(process)
                if stop is None:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(timeout=PATIENCE)
                else:
                    time.sleep(GLANCE)
        finally:
            _kill(process)  # whatever it left behind, or an impatient person
            process.wait()
        seconds = time.monotonic() - begun
        return Ran(code=process.returncode, seconds=seconds, said="", killed=killed)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
