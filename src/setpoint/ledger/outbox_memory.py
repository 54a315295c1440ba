"""The outbox of a ledger in memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from setpoint.ledger.outbox import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from setpoint.ledger.outbox import Selection, Skip
    from setpoint.model.delivery import Delivery, State


class MemoryDeliveries:
    """The messages in a dictionary."""

    def __init__(self) -> None:
        self.by_key: dict[str, Delivery] = {}
        self.skipped: dict[tuple[object, ...], Skip] = {}

    def copy(self) -> MemoryDeliveries:
        """A copy to go back to."""
        twin = MemoryDeliveries()
        twin.by_key, twin.skipped = dict(self.by_key), dict(self.skipped)
        return twin

    def find(self, keys: Sequence[str]) -> dict[str, Delivery]:
        """Those of these keys that are there."""
        return {key: self.by_key[key] for key in keys if key in self.by_key}

    def put(self, deliveries: Iterable[Delivery]) -> None:
        """Keep them, in place of what was there."""
        for each in deliveries:
            self.by_key[each.key] = each

    def due(self, chosen: Selection, now: datetime, limit: int) -> list[Delivery]:
        """Pending ones whose time has come, in the order in which they were recorded."""
        found = [
            each
            for each in self._pending(chosen)
            if each.not_before is None or each.not_before <= now
        ]
        return sorted(found, key=_order)[:limit]

    def next_due(self, chosen: Selection) -> tuple[bool, datetime | None]:
        """Whether any is pending, and when the first may be sent (None: now)."""
        times = [each.not_before for each in self._pending(chosen)]
        known = [moment for moment in times if moment is not None]
        return bool(times), min(known) if known and len(known) == len(times) else None

    def in_state(self, state: State, chosen: Selection) -> list[Delivery]:
        """All of a state."""
        whole = replace(chosen, by_hand=True)
        found = [e for e in self.by_key.values() if e.state == state and _fits(e, whole)]
        return sorted(found, key=_order)

    def listed(
        self, state: State | None, chosen: Selection, prefix: str | None, limit: int | None
    ) -> list[Delivery]:
        """For a person: the newest first."""
        found = [
            each
            for each in self.by_key.values()
            if state in (None, each.state)
            and _fits(each, chosen)
            and each.key.startswith(prefix or "")
        ]
        return sorted(found, key=_order, reverse=True)[:limit]

    def tallies(self) -> list[Tally]:
        """How many there are, by task, effect and state."""
        every = self.by_key.values()
        counted = Counter((each.task, each.effect, each.state) for each in every)
        changed = Counter((e.task, e.effect, e.state) for e in every if e.changed is not None)
        return [
            Tally(
                task=task,
                effect=effect,
                state=state,
                count=count,
                changed=changed[task, effect, state],
            )
            for (task, effect, state), count in sorted(counted.items())
        ]

    def skip(self, skip: Skip) -> None:
        """Note that a window's messages are not to be sent."""
        self.skipped.setdefault(_scope(skip), skip)

    def skips(self, task: str | None) -> list[Skip]:
        """The windows whose messages are not to be sent."""
        return [each for each in self.skipped.values() if task in (None, each.task)]

    def unskip(self, skip: Skip) -> None:
        """Forget a skip."""
        self.skipped.pop(_scope(skip), None)

    def _pending(self, chosen: Selection) -> list[Delivery]:
        return [e for e in self.by_key.values() if e.state == "pending" and _fits(e, chosen)]


def _fits(each: Delivery, chosen: Selection) -> bool:
    return (
        chosen.task in (None, each.task)
        and chosen.effect in (None, each.effect)
        and chosen.key in (None, each.key)
        and (chosen.by_hand or not each.by_hand)
    )


def _order(each: Delivery) -> tuple[datetime, int, str]:
    return (each.recorded_at, each.place, each.key)


def _scope(skip: Skip) -> tuple[object, ...]:
    return (skip.task, skip.window_start, skip.window_end, skip.effect)
