"""The outbox: what is to be sent, and how far it got. Once for every ledger, over its store."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Literal, Protocol

from setpoint.errors import UsageError
from setpoint.model import delivery as decide
from setpoint.model.delivery import Offer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from setpoint.model.delivery import Delivery, Sender, State
    from setpoint.model.verdict import Verdict

SHORTEST_PREFIX = 6


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which messages are meant; what is None means any."""

    task: str | None = None
    effect: str | None = None
    key: str | None = None
    by_hand: bool = False
    """Also those that wait for `setpoint effects send`."""


@dataclass(frozen=True, kw_only=True)
class Skip:
    """A window whose messages of one effect are not to be sent."""

    task: str
    window_start: datetime | None
    window_end: datetime | None
    effect: str
    at: datetime
    run_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How many messages of an effect are in a state."""

    task: str
    effect: str
    state: State
    count: int
    changed: int


class Deliveries(Protocol):
    """The outbox as one transaction sees it. Nobody else writes until it ends."""

    def find(self, keys: Sequence[str]) -> dict[str, Delivery]:
        """Those of these keys that are there."""
        ...

    def put(self, deliveries: Iterable[Delivery]) -> None:
        """Keep them, in place of what was there."""
        ...

    def due(self, chosen: Selection, now: datetime, limit: int) -> list[Delivery]:
        """Pending ones whose time has come, in the order in which they were recorded."""
        ...

    def next_due(self, chosen: Selection) -> tuple[bool, datetime | None]:
        """Whether any is pending, and when the first may be sent (None: now)."""
        ...

    def in_state(self, state: State, chosen: Selection) -> list[Delivery]:
        """All of a state."""
        ...

    def listed(
        self, state: State | None, chosen: Selection, prefix: str | None, limit: int | None
    ) -> list[Delivery]:
        """For a person: the newest first."""
        ...

    def tallies(self) -> list[Tally]:
        """How many there are, by task, effect and state."""
        ...

    def skip(self, skip: Skip) -> None:
        """Note that a window's messages are not to be sent."""
        ...

    def skips(self, task: str | None) -> list[Skip]:
        """The windows whose messages are not to be sent."""
        ...

    def unskip(self, skip: Skip) -> None:
        """Forget a skip."""
        ...


class Outbox:
    """Decides in one transaction, and keeps the decision in it."""

    def __init__(
        self,
        transaction: Callable[[], AbstractContextManager[Deliveries]],
        reading: Callable[[], AbstractContextManager[Deliveries]],
        *,
        now: Callable[[], datetime],
        chance: Random | None = None,
    ) -> None:
        self._transaction = transaction
        self._reading = reading
        self.now = now
        self._chance = chance or Random()  # noqa: S311 — spreads retries, guards nothing

    def offer(self, fresh: Sequence[Delivery], *, insist: bool = False) -> list[Offer]:
        """Record what a run has to send; what is there already is not recorded again.

        With `insist`, a window that was skipped is skipped no longer.
        """
        if not fresh:
            return []
        offers = []
        with self._transaction() as store:
            skipped = self._skipped(store, fresh, insist=insist)
            known = store.find([each.key for each in fresh])
            kept = []
            for each in fresh:
                existing = known.get(each.key)
                if existing is None and _scope(each) in skipped:
                    offers.append(_skipped_offer(each))
                    continue
                changed, offer = decide.offered(existing, each)
                offers.append(offer)
                if changed is not None:
                    kept.append(changed)
            store.put(kept)
        return offers

    def skip(self, skips: Sequence[Skip]) -> None:
        """Note that the messages of these windows are not to be sent."""
        with self._transaction() as store:
            for skip in skips:
                store.skip(skip)

    def sweep(self, chosen: Selection, *, alive: Callable[[Sender], bool | None]) -> list[Delivery]:
        """Find what died in the middle; those that are held for a person now."""
        now = self.now()
        with self._reading() as store:
            looked_at = store.in_state("sending", chosen) + store.in_state("unknown", chosen)
        if not looked_at:
            return []
        held = []
        with self._transaction() as store:
            for each in store.find([each.key for each in looked_at]).values():
                lives = alive(each.sender) if each.sender else False
                dead = decide.abandoned(each, alive=lives, now=now)
                if dead or (each.state == "unknown" and each.honours_key):
                    after = decide.found_abandoned(each)
                    store.put([after])
                    held += [after] if after.state == "unknown" else []
        return held

    def renew(self, chosen: Selection) -> int:
        """Let those that failed be tried again; how many there are."""
        with self._transaction() as store:
            failed = store.in_state("failed", chosen)
            store.put([decide.resolved_to_resend(each) for each in failed])
        return len(failed)

    def take(self, chosen: Selection, sender: Sender, limit: int) -> list[Delivery]:
        """Take pending messages to send them; nobody else will."""
        now = self.now()
        with self._transaction() as store:
            taken = [decide.taken(each, sender, now) for each in store.due(chosen, now, limit)]
            store.put(taken)
        return taken

    def settle(self, ends: Sequence[tuple[Delivery, Verdict]]) -> list[Delivery]:
        """Say what became of messages that were taken. What another took over is left to it."""
        now = self.now()
        with self._transaction() as store:
            current = store.find([each.key for each, _ in ends])
            after = [
                decide.settled(current[each.key], verdict, now=now, chance=self._chance)
                for each, verdict in ends
                if _still_ours(current.get(each.key), each)
            ]
            store.put(after)
        return after

    def put_back(self, unsent: Sequence[Delivery]) -> None:
        """Give back messages that were taken and never begun with."""
        with self._transaction() as store:
            current = store.find([each.key for each in unsent])
            store.put(
                decide.let_go(current[each.key])
                for each in unsent
                if _still_ours(current.get(each.key), each)
            )

    def resolve(self, prefix: str, *, decision: Literal["sent", "resend"]) -> Delivery:
        """Carry out a person's decision about one message."""
        with self._transaction() as store:
            found = self._only(store, prefix)
            if found.state == "sending":
                raise UsageError(
                    f"effect {found.effect} of {found.task} is being sent just now "
                    f"(process {found.sender.pid if found.sender else '?'})",
                    next_step="wait for it, or end that process; then decide",
                )
            if decision == "sent":
                after = decide.resolved_as_sent(found, self.now())
            else:
                after = decide.resolved_to_resend(found)
            store.put([after])
        return after

    def find(self, prefix: str) -> Delivery:
        """The one message whose key begins so."""
        with self._reading() as store:
            return self._only(store, prefix)

    def deliveries(
        self,
        *,
        state: State | None = None,
        chosen: Selection | None = None,
        limit: int | None = 100,
    ) -> list[Delivery]:
        """Messages, the newest first."""
        with self._reading() as store:
            return store.listed(state, chosen or Selection(by_hand=True), None, limit)

    def of_keys(self, keys: Sequence[str]) -> dict[str, Delivery]:
        """The messages of these keys."""
        with self._reading() as store:
            return store.find(keys)

    def due(self, chosen: Selection, limit: int) -> list[Delivery]:
        """Pending messages whose time has come, for a look."""
        with self._reading() as store:
            return store.due(chosen, self.now(), limit)

    def next_due(self, chosen: Selection) -> tuple[bool, datetime | None]:
        """Whether any is pending, and when the first may be sent (None: now)."""
        with self._reading() as store:
            return store.next_due(chosen)

    def tallies(self) -> list[Tally]:
        """How many there are, by task, effect and state."""
        with self._reading() as store:
            return store.tallies()

    def skips(self, task: str | None = None) -> list[Skip]:
        """The windows whose messages are not to be sent."""
        with self._reading() as store:
            return store.skips(task)

    def _skipped(
        self, store: Deliveries, fresh: Sequence[Delivery], *, insist: bool
    ) -> set[tuple[object, ...]]:
        wanted = {_scope(each) for each in fresh}
        found: set[tuple[object, ...]] = set()
        for task in {each.task for each in fresh}:
            for skip in store.skips(task):
                scope = (skip.task, skip.window_start, skip.window_end, skip.effect)
                if scope in wanted and insist:
                    store.unskip(skip)
                elif scope in wanted:
                    found.add(scope)
        return found

    def _only(self, store: Deliveries, prefix: str) -> Delivery:
        wanted = prefix.strip().lower()
        if len(wanted) < SHORTEST_PREFIX:
            raise UsageError(
                f"{prefix!r} is too short for a key: {SHORTEST_PREFIX} characters at least",
                next_step="setpoint effects list",
            )
        found = store.listed(None, Selection(by_hand=True), wanted, 2)
        if not found:
            raise UsageError(
                f"the outbox knows no key that begins with {prefix!r}",
                next_step="setpoint effects list",
            )
        if len(found) > 1:
            raise UsageError(f"more than one key begins with {prefix!r}", next_step="write more")
        return found[0]


def _still_ours(current: Delivery | None, taken: Delivery) -> bool:
    """Whether the message is still in the hands that took it, or was only taken for lost."""
    if current is None or current.sender is None or taken.sender is None:
        return False
    return current.sender.claim == taken.sender.claim and current.state in ("sending", "unknown")


def _scope(each: Delivery) -> tuple[object, ...]:
    return (each.task, each.window_start, each.window_end, each.effect)


def _skipped_offer(each: Delivery) -> Offer:
    words = "skipped before, not sent: run with --effects send to send it"
    return Offer(key=each.key, effect=each.effect, outcome="skipped", words=words)
