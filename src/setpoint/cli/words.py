"""Numbers and times as people read them."""

from __future__ import annotations

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
    """A window by its shortest unmistakable name."""
    from setpoint.model.window import Window

    return Window(start=start, end=end).label if start and end else WHOLE_TABLE


def moment_text(moment: datetime | None) -> str:
    """An instant to the second, in UTC."""
    return moment.strftime("%Y-%m-%d %H:%M:%SZ") if moment else ""
