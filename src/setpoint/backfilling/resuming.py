"""Going on with a backfill by its id."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.backfilling.project_backfill import backfill_project
from setpoint.backfilling.request import Request
from setpoint.errors import UsageError
from setpoint.ledger.backfill import OPEN
from setpoint.ledger.opening import open_ledger
from setpoint.running.loading import open_project

if TYPE_CHECKING:
    from setpoint.backfilling.progress import BackfillListener
    from setpoint.backfilling.result import BackfillResult


def resume_backfill(
    backfill_id: str,
    *,
    folder: Path | str = ".",
    max_active_runs: int | None = None,
    listener: BackfillListener | None = None,
) -> BackfillResult:
    """Go on with a backfill that was paused, stopped or left windows that failed."""
    project = open_project(Path(folder))
    settings = project.settings
    with open_ledger(settings.ledger_url, root=settings.root, create=True) as ledger:
        found = ledger.backfills.find(backfill_id)
        if found.state == "failed":
            found = ledger.backfills.end(found.backfill_id, "interrupted")
        if found.state not in OPEN:
            raise UsageError(
                f"backfill {found.backfill_id} has {found.state}; there is nothing to go on with",
                next_step="setpoint backfill TASK --start … --end … begins another one",
            )
        request = Request.of_document(found.request)
    if max_active_runs is not None:
        request = replace(request, max_active_runs=max_active_runs)
    return backfill_project(project, request, listener=listener)
