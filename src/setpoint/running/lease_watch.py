"""When a lease that stands in the way may be taken over. Pure: the caller brings the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from setpoint.ledger.lease import Holder, Lease

# No look counts for more than this: a waiter that was itself stopped for an hour has not watched
# for an hour, and a holder that was stopped with it needs its turn to beat.
LONGEST_LOOK = 2.0


class Watch:
    """What one waiter has seen of others' leases.

    The time is the waiter's own, and only how much of it went by counts: clocks of two machines
    are never compared. The holder's part is its beat alone.
    """

    def __init__(self, *, is_gone: Callable[[Holder], bool]) -> None:
        self._is_gone = is_gone
        self._watched: dict[tuple[int, int], float] = {}
        self._last: float | None = None

    def ended(self, leases: Iterable[Lease], now: float) -> tuple[Lease, ...]:
        """Those whose process is gone, or was silent while it was watched for its whole term."""
        leases = tuple(leases)
        passed = 0.0 if self._last is None else min(now - self._last, LONGEST_LOOK)
        self._last = now
        # By beat: one that was raised since the last look begins to be watched anew.
        self._watched = {
            (each.fence, each.beat): self._watched.get((each.fence, each.beat), -passed) + passed
            for each in leases
        }
        return tuple(
            each
            for each in leases
            if self._is_gone(each.holder) or self._watched[each.fence, each.beat] >= each.seconds
        )
