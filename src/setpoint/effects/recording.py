"""The step after a commit: messages are made from what was committed, recorded, then sent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from setpoint.effects.sending import Dispatcher, Sent
from setpoint.effects.transport import Transports, functions_of
from setpoint.errors import RunError
from setpoint.ledger.outbox import Selection, Skip
from setpoint.model.letter import Occasion, letters

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.engine.protocol import Engine
    from setpoint.ledger.outbox import Outbox
    from setpoint.model.delivery import Delivery, Offer
    from setpoint.model.effect import Effect, Policy
    from setpoint.model.plan import Step
    from setpoint.model.task import Task

# How each outcome of an offer is counted for a person.
WORDS = {
    "same": "already there, not sent again",
    "changed": "changed since sent, not sent again",
    "skipped": "skipped",
    "waits": "recorded before",
}


@dataclass(frozen=True, kw_only=True)
class EffectsResult:
    """What became of a step's effects."""

    offers: tuple[Offer, ...] = ()
    sent: Sent = field(default_factory=Sent)
    skipped: bool = False
    recorded: bool = False
    """Recorded to be sent by hand."""
    waiting: tuple[str, ...] = ()
    """Why some could not be tried."""

    @property
    def trouble(self) -> tuple[Delivery, ...]:
        """What did not arrive, or may not have."""
        return tuple(self.sent.ended.values())

    def words(self) -> str:
        """A line's worth for a person."""
        counts = self.sent.counts
        told = [
            f"{counts[state]:,} {state}" for state in ("sent", "failed", "unknown") if counts[state]
        ]
        offered = Counter(str(offer.outcome) for offer in self.offers)
        told += [f"{offered[name]:,} {words}" for name, words in WORDS.items() if offered[name]]
        if self.recorded and offered["recorded"]:
            told.append(f"{offered['recorded']:,} recorded for `setpoint effects send`")
        if self.skipped:
            told.append("skipped")
        return "effects: " + ", ".join(told) if told else ""

    def warnings(self) -> tuple[str, ...]:
        """What a person should look at, with the next command."""
        told = [
            f"effect {offer.effect}: {offer.words}"
            for offer in self.offers
            if offer.outcome == "changed"
        ][:5]
        for state, command in (
            ("unknown", "setpoint effects list --state unknown"),
            ("failed", "setpoint effects list --state failed"),
        ):
            found = [each for each in self.trouble if each.state == state]
            if found:
                first = found[0]
                what = f"effect {first.effect}: {len(found):,} {state} ({first.error})"
                told.append(f"{what}; next: {command}")
        return (*told, *self.waiting)

    def document(self) -> dict[str, int]:
        """The counts as documented for `--output json`."""
        offered = Counter(str(offer.outcome) for offer in self.offers)
        return {**offered, **self.sent.counts}


class EffectDesk:
    """Records the messages of each commit and sends them, by the run's policy."""

    def __init__(
        self,
        *,
        engine: Engine,
        outbox: Outbox,
        policy: Policy = "skip",
        say: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._engine = engine
        self._outbox = outbox
        self._policy = policy
        self._say = say

    def record(self, step: Step, snapshot: str | None, run_id: str) -> EffectsResult:
        """Record what the committed rows call for. Done twice, the second time adds nothing."""
        task, window = step.task, step.window
        if self._policy == "skip":
            skips = [
                Skip(
                    task=task.name,
                    window_start=window.start if window else None,
                    window_end=window.end if window else None,
                    effect=effect.name,
                    at=self._outbox.now(),
                    run_id=run_id,
                )
                for effect in task.effects
            ]
            self._outbox.skip(skips)
            return EffectsResult(skipped=True)
        by_hand = self._policy == "record"
        occasion = Occasion(
            task=task.name,
            window=window,
            recorded_at=self._outbox.now(),
            run_id=run_id,
            by_hand=by_hand,
        )
        made: list[Delivery] = []
        try:
            for effect in task.effects:
                made += letters(effect, self._rows(effect, step, snapshot), occasion)
        except RunError as error:
            raise error.on(task=task.name, window=step.label, table=str(task.target)) from None
        offers = self._outbox.offer(made, insist=self._policy != "usual")
        return EffectsResult(offers=tuple(offers), recorded=by_hand)

    def send(self, task: Task) -> tuple[Sent, tuple[str, ...]]:
        """Send what the task has waiting: this run's messages, and those that a crash left."""
        if self._policy in ("skip", "record"):
            return Sent(), ()
        transports = Transports(lambda: functions_of([task]))
        dispatcher = Dispatcher(self._outbox, transport=transports, say=self._say)
        return dispatcher.send(Selection(task=task.name)), dispatcher.waiting

    def _rows(self, effect: Effect, step: Step, snapshot: str | None) -> list[dict[str, object]]:
        return self._engine.rows(
            step.task,
            step.window,
            snapshot,
            where=effect.where,
            summary=effect.summary,
            order=effect.each,
            limit=effect.limit + 1,
        )
