"""Which windows a backfill runs and which it leaves, each with its reason. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from setpoint.backfilling.request import Only, Reprocess
    from setpoint.ledger.record import Standing
    from setpoint.model.window import Window

DONE = "already done"
DONE_HERE = "done earlier in this backfill"
FAILED = "failed before; --reprocess-behavior failed runs it again"
NOT_MISSING = "not missing"
NOT_FAILED = "did not fail"
NOT_STALE = "code and inputs are as they were"


@dataclass(frozen=True, kw_only=True)
class Skip:
    """Windows that are left as they are, for one reason."""

    reason: str
    windows: int
    first: str
    last: str


@dataclass(frozen=True, kw_only=True)
class Choice:
    """How windows are chosen by where they stand."""

    reprocess: Reprocess = "failed"
    only: tuple[Only, ...] = ()
    since: int | None = None
    """The fence at which this backfill began, when it goes on: later successes are its own."""
    stale: Callable[[Window, Standing], str | None] = field(default=lambda _w, _s: None)
    """Why a window that succeeded is stale; None when it is not."""

    def skip(self, window: Window, standing: Standing) -> str | None:
        """Why a window that has run is left out; None when it is to be run again."""
        state = standing.state
        if self.since is not None and standing.fence > self.since:
            # What failed in this very backfill is tried again when it goes on.
            return DONE_HERE if state == "succeeded" else None
        if self.only:
            return self._skip_only(window, standing)
        if state == "succeeded":
            return None if self.reprocess == "completed" else DONE
        if state == "failed" and self.reprocess == "none":
            return FAILED
        # A run that is still open has died, or holds a lease that the write will meet.
        return None

    def _skip_only(self, window: Window, standing: Standing) -> str | None:
        if standing.state == "running":
            return None if "missing" in self.only else NOT_FAILED
        if standing.state == "failed":
            return None if "failed" in self.only else NOT_MISSING
        if "stale" in self.only:
            return None if self.stale(window, standing) else NOT_STALE
        return NOT_MISSING if "missing" in self.only else NOT_FAILED


def select(
    windows: Iterable[Window], standings: Sequence[Standing], choice: Choice
) -> tuple[list[Window], tuple[Skip, ...]]:
    """The windows to run, and what is skipped with its reason; both inputs in order of time."""
    kept: list[Window] = []
    skipped: dict[str, _Skipped] = {}
    # Hundreds of thousands of both: walked side by side, and texts read only where they are.
    known = iter(standings)
    ahead = next(known, None)
    starts = datetime.fromisoformat(ahead.window_start) if ahead else None
    never_run = None if not choice.only or "missing" in choice.only else NOT_FAILED
    for window in windows:
        standing = None
        while starts is not None and ahead is not None and starts <= window.start:
            if starts == window.start and datetime.fromisoformat(ahead.window_end) == window.end:
                standing = ahead
            ahead = next(known, None)
            starts = datetime.fromisoformat(ahead.window_start) if ahead else None
        why = never_run if standing is None else choice.skip(window, standing)
        if why is None:
            kept.append(window)
            continue
        found = skipped.get(why)
        if found is None:
            found = skipped[why] = _Skipped(first=window, last=window)
        found.last = window
        found.count += 1
    skips = tuple(
        Skip(reason=why, windows=each.count, first=each.first.label, last=each.last.label)
        for why, each in skipped.items()
    )
    return kept, skips


@dataclass
class _Skipped:
    first: Window
    last: Window
    count: int = 0
