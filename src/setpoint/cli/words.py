"""Numbers and times as people read them."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import TYPE_CHECKING

from setpoint.model.plan import WHOLE_TABLE

if TYPE_CHECKING:
    from datetime import datetime

MINUTE = 60


def seconds_text(seconds: float | None) -> str:
    """A duration: `0.4 s`, `12.3 s`, `4 min 05 s`."""
    if seconds is None:
        return ""
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    return f"{int(seconds // MINUTE)} min {int(seconds % MINUTE):02d} s"


def count_text(count: int | None) -> str:
    """A number with separators; nothing for None."""
    return "" if count is None else f"{count:,}"


def window_text(start: datetime | None, end: datetime | None) -> str:
    """A window by its shortest unmistakable name, in UTC: the ledger does not know its zone."""
    from setpoint.model.window import Window

    if not start or not end:
        return WHOLE_TABLE
    window = Window(start=start, end=end)
    if "T" not in window.label or end - start <= timedelta(hours=1):
        return window.label
    # A day of Berlin begins at 22:00Z or 23:00Z: its beginning alone reads like an hour.
    return f"{window.label}/{end.astimezone(timezone.utc):%Y-%m-%dT%H:%MZ}"


def moment_text(moment: datetime | None) -> str:
    """An instant to the second, in UTC."""
    return moment.strftime("%Y-%m-%d %H:%M:%SZ") if moment else ""
