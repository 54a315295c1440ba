"""The ledger as the command line reads it: no Spark, no task files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.ledger.opening import open_ledger
from setpoint.project.project import open_settings
from setpoint.running.result import iso

if TYPE_CHECKING:
    from pathlib import Path

    from setpoint.ledger.protocol import LedgerReader
    from setpoint.ledger.record import Json, Run


def open_records(folder: Path) -> LedgerReader:
    """The ledger of the project that the folder lies in, for reading."""
    settings = open_settings(folder)
    return open_ledger(settings.ledger_url, root=settings.root, create=False)


def run_document(run: Run) -> dict[str, Json]:
    """A recorded run as documented for `--output json`."""
    return {
        "task": run.task,
        "window_start": iso(run.window_start),
        "window_end": iso(run.window_end),
        "state": run.state,
        "attempts": run.attempts,
        "rows": run.rows,
        "checksum": run.checksum,
        "run_id": run.run_id,
        "snapshot": run.snapshot,
        "seconds": None if run.seconds is None else round(run.seconds, 3),
        "error": run.error,
    }
