"""Planted scripts, verified from outside: each broken one is caught, no sound one is accused."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest
from tests.verify.case import Case, cases
from tests.verify.tally import TALLY, named_causes

from setpoint.verifying.blackbox.verification import verify_command
from setpoint.verifying.check import chosen_checks

if TYPE_CHECKING:
    from pathlib import Path

    from setpoint.verifying.verdict import Verdict

pytestmark = pytest.mark.process
EVERY = "SETPOINT_EVERY_CHECK" in os.environ


def _every(case: Case) -> list[str]:
    return [name for name in chosen_checks((), command=True) if name not in case.excepted]


def verdict_on(case: Case, folder: Path, patch: pytest.MonkeyPatch) -> Verdict:
    """Verify a script in a folder of its own."""
    shutil.copy(case.path, folder / case.path.name)
    patch.chdir(folder)
    for name, value in case.variables.items():
        patch.setenv(name, value)
    quick = "" if case.site else " -S"
    return verify_command(
        f"{sys.executable}{quick} {case.path.name} {{ds}}",
        targets=[case.target],
        ds="2026-04-25",
        checks=_every(case) if EVERY else case.checks,
        record=case.record,
        kills=2 if EVERY else 1,
        folder=folder,
    )


@pytest.mark.parametrize("case", cases("broken/scripts"), ids=lambda case: case.name)
def test_a_broken_script_is_caught_and_its_cause_is_named(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict is no, the cause is the right one, and the target is as it was."""
    verdict = verdict_on(case, tmp_path, monkeypatch)
    TALLY.add_broken(case, verdict)
    assert verdict.error is None
    assert not verdict.idempotent
    assert case.causes & named_causes(verdict), (case.causes, verdict.failures)
    assert not (tmp_path / "shop.db").exists()


@pytest.mark.parametrize("case", cases("sound/scripts"), ids=lambda case: case.name)
def test_a_sound_script_is_not_accused(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every check that was made passes, and the target is as it was."""
    verdict = verdict_on(case, tmp_path, monkeypatch)
    TALLY.add_sound(case, verdict)
    assert verdict.error is None
    assert verdict.idempotent, verdict.failures
    assert not (tmp_path / "shop.db").exists()
