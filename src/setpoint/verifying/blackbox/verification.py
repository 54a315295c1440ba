"""Verifying a command: the one way in, for the command line and for Python."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.errors import UsageError
from setpoint.verifying.blackbox.command import Command
from setpoint.verifying.blackbox.destination import open_destination
from setpoint.verifying.blackbox.reading import script_clues
from setpoint.verifying.blackbox.receivers import Receivers
from setpoint.verifying.blackbox.trial import KILLS, Trial, check_ds
from setpoint.verifying.check import chosen_checks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from setpoint.verifying.verdict import Verdict

DEVELOPMENT_DATE = "2026-04-25"
"""The date for a command when none is given: a fixed one, never today."""


def verify_command(
    command: str,
    *,
    targets: Sequence[str],
    ds: str | None = None,
    setup: str | None = None,
    checks: Sequence[str] = (),
    record: Sequence[str] = (),
    kills: int = KILLS,
    seed: int = 0,
    folder: Path | str = ".",
    say: Callable[[str], None] = lambda _text: None,
) -> Verdict:
    """Run a command again and again, kill it, and compare what it leaves in its targets.

    Args:
        command: The command line; `{ds}` stands for the date. No shell reads it.
        targets: Tables, files or URLs that the command writes to; all are put back at the end.
        ds: The date to run for.
        setup: A command to run once before anything is kept.
        checks: Names of checks; all when none are named.
        record: Environment variables that the command reads the address of a receiver from:
            `SLACK_WEBHOOK_URL`, or `SMTP_HOST:SMTP_PORT`. It then talks to a recorder.
        kills: How many random moments to kill it at.
        seed: Decides the random moments.
        folder: Where the command runs.
        say: Told of each step.
    """
    chosen = chosen_checks(checks, command=True)
    if not targets and not record:
        raise UsageError(
            "what does the command write to? No --target was given",
            next_step='setpoint verify --command "…" --target shop.db',
        )
    place = Path(folder).resolve()
    date = check_ds(ds or DEVELOPMENT_DATE)
    with contextlib.ExitStack() as stack:
        receivers = Receivers(record)
        variables = receivers.variables
        stack.enter_context(receivers)
        line = Command(line=command, folder=place, variables=variables)
        line.words(date)
        if setup:
            _set_up(setup, place)
        trial = Trial(
            command=line,
            destinations=[open_destination(text, folder=place, say=say) for text in targets],
            checks=chosen,
            ds=date,
            sent=receivers.sent,
            recording=bool(record),
            clues=script_clues(command, place),
            kills=kills,
            seed=seed,
            say=say,
        )
        return trial.verdict()


def _set_up(setup: str, folder: Path) -> None:
    try:
        done = subprocess.run(
            shlex.split(setup), cwd=folder, capture_output=True, text=True, check=False
        )
    except (OSError, ValueError) as error:
        raise UsageError(f"--setup cannot be started: {error}") from None
    if done.returncode:
        raise UsageError(
            f"--setup failed (exit code {done.returncode}): {(done.stderr or done.stdout)[-400:]}",
            next_step="it must prepare what the command reads and writes",
        )
