"""How a step of a plan ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime

    from setpoint.effects.recording import EffectsResult
    from setpoint.errors import SetpointError
    from setpoint.ledger.record import Json
    from setpoint.model.plan import Step

ResultState = Literal["succeeded", "failed", "skipped"]


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """One task on one window: what came of it."""

    step: Step
    state: ResultState
    attempts: int = 0
    rows: int | None = None
    replaced: int | None = None
    checksum: str | None = None
    run_id: str | None = None
    snapshot: str | None = None
    seconds: float | None = None
    error: SetpointError | None = None
    warnings: tuple[str, ...] = ()
    effects: EffectsResult | None = None
    adopted: bool = False
    """An earlier attempt had committed before it died; nothing was written again."""

    def document(self) -> dict[str, Json]:
        """The result as documented for `--output json`."""
        window = self.step.window
        more: dict[str, Json] = {"effects": dict(self.effects.document())} if self.effects else {}
        return more | {
            "task": self.step.task.name,
            "window_start": iso(window.start if window else None),
            "window_end": iso(window.end if window else None),
            "state": self.state,
            "attempts": self.attempts,
            "rows": self.rows,
            "checksum": self.checksum,
            "run_id": self.run_id,
            "snapshot": self.snapshot,
            "seconds": None if self.seconds is None else round(self.seconds, 3),
            "error": self.error.message if self.error else None,
        }


def iso(moment: datetime | None) -> str | None:
    """An instant as text, in UTC with a Z."""
    return moment.isoformat().replace("+00:00", "Z") if moment else None
