"""What came of a backfill, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from setpoint.running.result import iso

if TYPE_CHECKING:
    from setpoint.backfilling.cost import Usage
    from setpoint.backfilling.plan import BackfillPlan
    from setpoint.ledger.backfill import BackfillState
    from setpoint.model.window import Window

WindowState = Literal["succeeded", "failed", "blocked"]


@dataclass(frozen=True, kw_only=True)
class WindowResult:
    """How one window ended."""

    task: str
    window: Window | None
    state: WindowState
    rows: int | None = None
    replaced: int | None = None
    job: str | None = None
    error: str | None = None

    def document(self) -> dict[str, object]:
        """As documented for `--output json`."""
        return {
            "task": self.task,
            "window_start": iso(self.window.start if self.window else None),
            "window_end": iso(self.window.end if self.window else None),
            "state": self.state,
            "rows": self.rows,
            "replaced": self.replaced,
            "job": self.job,
            "error": self.error,
        }


@dataclass(frozen=True, kw_only=True)
class BackfillResult:
    """The plan, and what came of it."""

    plan: BackfillPlan
    state: BackfillState | Literal["planned"]
    backfill_id: str | None = None
    """None when there was nothing to do, or nothing was to be done."""
    windows: tuple[WindowResult, ...] = ()
    usage: Usage | None = None
    shadows: tuple[str, ...] = ()
    """The tables that were written aside."""

    def count(self, state: WindowState) -> int:
        """How many windows ended so."""
        return sum(1 for each in self.windows if each.state == state)

    @property
    def failed(self) -> tuple[WindowResult, ...]:
        """The windows to blame."""
        return tuple(each for each in self.windows if each.state == "failed")

    def document(self) -> dict[str, object]:
        """As documented for `--output json`."""
        return {
            "backfill": self.backfill_id,
            "state": self.state,
            "plan": self.plan.document(),
            "windows": [each.document() for each in self.windows],
            "usage": self.usage.document() if self.usage else None,
            "shadows": list(self.shadows),
        }
