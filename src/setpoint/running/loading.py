"""Loading a project together with what its ledger knows of the code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.model.retry_safety import Proof
from setpoint.project.project import Project, load_project

if TYPE_CHECKING:
    from pathlib import Path

    from setpoint.model.settings import Settings


def open_project(folder: Path, *, allow_unsafe_retry: bool = False) -> Project:
    """Load all task files; raises with every fault at once.

    Whether a task may have retries is decided with the verdict of `verify` on its code. The ledger
    is asked for tasks that have retries, and for no others.
    """
    return load_project(folder, allow_unsafe_retry=allow_unsafe_retry, proof=kept_proof)


def kept_proof(settings: Settings, task: str, fingerprint: str) -> Proof | None:
    """The verdict in the project's ledger on exactly this code, if there is one."""
    from setpoint.ledger.opening import open_ledger

    with open_ledger(settings.ledger_url, root=settings.root, create=False) as ledger:
        found = ledger.verifications.of(task, fingerprint)
    if found is None:
        return None
    return Proof(
        idempotent=found.idempotent, checks=found.checks, failed=found.failed, cause=found.cause
    )
