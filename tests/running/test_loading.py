"""Retries rest on the verdict that the ledger keeps of exactly this code."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest
from tests.project_folder import ProjectFolder

from setpoint.errors import ProjectError
from setpoint.ledger import opening
from setpoint.ledger.opening import open_ledger
from setpoint.ledger.verification import Verification
from setpoint.project.project import load_project
from setpoint.running.loading import open_project

if TYPE_CHECKING:
    from pathlib import Path

LEDGER = "sqlite:///.setpoint/ledger.db"
DOUBTFUL = "retries=2, allow=[Allow('rand', 'salts a join')]"


def project(root: Path, more: str) -> ProjectFolder:
    """A project with one task."""
    folder = ProjectFolder(root)
    folder.python(more)
    return folder


def verified(root: Path, *, idempotent: bool) -> None:
    """Keep a verdict on the task as it stands."""
    code = load_project(root, allow_unsafe_retry=True).graph.task("orders").fingerprint
    with open_ledger(LEDGER, root=root, create=True) as ledger:
        ledger.verifications.put(
            Verification(
                task="orders",
                fingerprint=code,
                idempotent=idempotent,
                at=datetime.now(timezone.utc),
                checks=("two", "crash", "clock"),
                failed=() if idempotent else ("two",),
                cause=None if idempotent else "rows are added again",
            )
        )


def retries(root: Path) -> int:
    """How often the task would be retried."""
    return open_project(root).graph.task("orders").retry.retries


def refusal(root: Path) -> str:
    """Why the project is refused."""
    with pytest.raises(ProjectError) as error:
        open_project(root)
    (fault,) = error.value.faults
    return f"{fault.message} | {fault.fix}"


def test_a_doubtful_task_may_retry_once_it_is_proven_on_this_code(tmp_path: Path) -> None:
    """And no longer when the code is another."""
    folder = project(tmp_path, DOUBTFUL)
    assert "setpoint verify orders" in refusal(tmp_path)
    verified(tmp_path, idempotent=True)
    assert retries(tmp_path) == 2
    file = folder.python(DOUBTFUL)
    file.write_text(file.read_text().replace("return None", "return 1"))
    assert "it may use rand" in refusal(tmp_path)


def test_a_task_that_was_found_not_idempotent_may_not_retry(tmp_path: Path) -> None:
    """Although its declaration gives no reason for doubt; without retries it is let be."""
    folder = project(tmp_path, "retries=2")
    assert retries(tmp_path) == 2
    verified(tmp_path, idempotent=False)
    told = refusal(tmp_path)
    assert "retries=2, but verify found this code not idempotent" in told
    assert "(two: rows are added again)" in told
    assert "setpoint verify orders" in told
    assert "--allow-unsafe-retry" in told
    assert open_project(tmp_path, allow_unsafe_retry=True).graph.task("orders").retry.retries == 2
    folder.python("retries=0")
    assert retries(tmp_path) == 0


def test_the_ledger_is_not_asked_without_retries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that only loads the project stays as fast as it was."""
    asked = []

    def opened(*_args: object, **_kwargs: object) -> None:
        asked.append(1)
        raise AssertionError

    monkeypatch.setattr(opening, "open_ledger", opened)
    folder = project(tmp_path, "allow=[Allow('rand', 'salts a join')]")
    assert retries(tmp_path) == 0
    folder.python("retries=1")
    with pytest.raises(AssertionError):
        open_project(tmp_path)
    assert asked == [1]
