"""Which windows a backfill runs and which it leaves, each with its reason. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
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

    def skip(self, window: Window, standing: Standing | None) -> str | None:
        """Why the window is left out; None when it is to be run."""
        state = standing.state if standing else None
        if self.since is not None and standing is not None and standing.fence > self.since:
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

    def _skip_only(self, window: Window, standing: Standing | None) -> str | None:
        if standing is None or standing.state == "running":
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
    skipped: dict[str, list[Window]] = {}
    if not standings and not choice.only:
        return list(windows), ()
    known = {(each.window_start, each.window_end): each for each in standings}
    for window in windows:
        standing = known.get((window.start.isoformat(), window.end.isoformat()))
        why = choice.skip(window, standing)
        if why is None:
            kept.append(window)
        else:
            skipped.setdefault(why, []).append(window)
    skips = tuple(
        Skip(reason=why, windows=len(them), first=them[0].label, last=them[-1].label)
        for why, them in skipped.items()
    )
    return kept, skips
