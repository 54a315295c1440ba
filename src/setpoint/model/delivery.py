"""One message in the outbox, and every decision about it, as pure functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from setpoint.model.effect import SETTINGS, Terms
from setpoint.model.idempotency_key import idempotency_key

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from setpoint.model.effect import Kind, Resend
    from setpoint.model.verdict import Verdict

State = Literal["pending", "sending", "sent", "failed", "unknown"]
STATES: tuple[State, ...] = ("pending", "sending", "sent", "failed", "unknown")

# Beyond its own time an attempt gets this much before another machine takes it for dead.
GRACE = 60.0


@dataclass(frozen=True, kw_only=True)
class Sender:
    """The process that has taken a message to send it."""

    claim: str
    """A random text: only who took the message may say what became of it."""
    host: str
    pid: int
    machine: str = ""
    born: str = ""
    """When the process began, as the system tells it: numbers of processes are used again."""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A message that is sent once: what it says, frozen, and how far it got."""

    key: str
    task: str
    window_start: datetime | None
    window_end: datetime | None
    effect: str
    kind: Kind
    business_id: str
    """The business id as a person reads it; empty when the message is for the whole window."""
    content: Mapping[str, Any]
    """What is sent: frozen when it was first recorded. Secrets stand in it by name only."""
    digest: str
    """Of what the message says."""
    changed: Mapping[str, Any] | None = None
    """What a later run would say instead."""
    honours_key: bool
    resend: Resend = "never"
    terms: Terms
    state: State = "pending"
    by_hand: bool = False
    """Recorded to wait for `setpoint effects send`: no run sends it by the way."""
    revision: int = 0
    attempts: int = 0
    not_before: datetime | None = None
    sender: Sender | None = None
    taken_at: datetime | None = None
    recorded_at: datetime
    sent_at: datetime | None = None
    error: str | None = None
    status: int | None = None
    run_id: str | None = None
    place: int = 0
    """The order among those recorded together."""

    @property
    def wire_key(self) -> str:
        """The key that the receiver sees: a message that says something new needs a new one."""
        return self.key if self.revision == 0 else f"{self.key}-{self.revision}"


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What became of a message that a run had to send."""

    key: str
    effect: str
    outcome: Literal["recorded", "again", "same", "changed", "waits", "skipped"]
    words: str


def digest_of(content: Mapping[str, Any]) -> str:
    """What tells two messages of one key apart: what they say, not how they get there."""
    return idempotency_key({name: v for name, v in content.items() if name not in SETTINGS})


def offered(  # noqa: PLR0911 — one line a state
    existing: Delivery | None, fresh: Delivery
) -> tuple[Delivery | None, Offer]:
    """What to keep when a run has this message to send; None when the record stays as it is."""
    if existing is None:
        words = "waits for `setpoint effects send`" if fresh.by_hand else "recorded"
        return fresh, _offer(fresh, "recorded", words)
    if existing.digest != fresh.digest:
        return _offered_changed(existing, fresh)
    kept = replace(existing, changed=None, honours_key=fresh.honours_key, resend=fresh.resend)
    if existing.state == "sent":
        return _unless_same(existing, kept), _offer(existing, "same", f"already sent {_at(kept)}")
    if existing.state == "sending":
        return None, _offer(existing, "same", "being sent by another process")
    # What says the same may go by another way: a server that moved, a secret under a new name.
    kept = replace(kept, content=fresh.content, terms=fresh.terms)
    if existing.state == "unknown" and not existing.honours_key:
        return _unless_same(existing, kept), _offer(existing, "same", _held(existing))
    if existing.state == "failed":
        again = _anew(kept, fresh)
        return again, _offer(again, "again", "refused before, tried again")
    kept = replace(kept, by_hand=existing.by_hand and fresh.by_hand)
    return _unless_same(existing, kept), _offer(existing, "waits", "recorded before, not yet sent")


def _offered_changed(existing: Delivery, fresh: Delivery) -> tuple[Delivery | None, Offer]:
    settled = existing.state in ("pending", "sent")
    if existing.state == "failed" or (settled and fresh.resend == "on_change"):
        seen = existing.attempts > 0 or existing.state == "sent"
        again = replace(
            _anew(existing, fresh),
            content=fresh.content,
            digest=fresh.digest,
            changed=None,
            honours_key=fresh.honours_key,
            resend=fresh.resend,
            terms=fresh.terms,
            revision=existing.revision + (1 if seen else 0),
        )
        words = "changed since sent, sent again" if existing.state == "sent" else "changed, renewed"
        return again, _offer(again, "again", words)
    noted = replace(existing, changed=fresh.content, resend=fresh.resend)
    sent = existing.state == "sent"
    since = f"sent {_at(existing)}" if sent else f"recorded ({existing.state})"
    hand = f"setpoint effects resolve {existing.key[:12]} --resend"
    words = f"changed since {since}, not sent again: {hand}"
    return _unless_same(existing, noted), _offer(existing, "changed", words)


def _anew(existing: Delivery, fresh: Delivery) -> Delivery:
    return replace(
        existing,
        state="pending",
        by_hand=fresh.by_hand,
        attempts=0,
        not_before=None,
        sender=None,
        taken_at=None,
        error=None,
        status=None,
        run_id=fresh.run_id,
    )


def taken(delivery: Delivery, sender: Sender, now: datetime) -> Delivery:
    """The message in the hands of a sender."""
    return replace(
        delivery,
        state="sending",
        sender=sender,
        taken_at=now,
        attempts=delivery.attempts + 1,
        not_before=None,
    )


def let_go(delivery: Delivery) -> Delivery:
    """The message put back by a sender that never began with it."""
    return replace(
        delivery,
        state="pending",
        sender=None,
        taken_at=None,
        attempts=max(0, delivery.attempts - 1),
    )


def abandoned(delivery: Delivery, *, alive: bool | None, now: datetime) -> bool:
    """Whether nobody is sending it any more. `alive` is None where that cannot be asked."""
    if delivery.state != "sending":
        return False
    if alive is False:
        return True
    lease = timedelta(seconds=delivery.terms.timeout + GRACE)
    # A clock that is wrong makes it unknown too early, never sent twice: its own sender may still
    # say what became of it.
    return delivery.taken_at is not None and now > delivery.taken_at + lease


def found_abandoned(delivery: Delivery) -> Delivery:
    """The message of a sender that died: sent again where keys are honoured, held elsewhere."""
    if delivery.honours_key:
        return replace(delivery, state="pending", not_before=None)
    return replace(
        delivery, state="unknown", error="the sender ended between sending and marking it sent"
    )


def settled(delivery: Delivery, verdict: Verdict, *, now: datetime, chance: Random) -> Delivery:
    """The message after an attempt."""
    ended = replace(delivery, error=verdict.reason or None, status=verdict.status, not_before=None)
    if verdict.arrival == "sent":
        return replace(ended, state="sent", sent_at=now, error=None)
    if verdict.arrival == "refused":
        return replace(ended, state="failed")
    if verdict.arrival == "unclear" and not delivery.honours_key:
        return replace(ended, state="unknown")
    if delivery.attempts > delivery.terms.retries:
        return replace(ended, state="failed" if verdict.arrival == "again" else "unknown")
    pause = delivery.terms.backoff.delay(delivery.attempts, chance)
    pause = max(pause, verdict.retry_after or 0.0)
    return replace(ended, state="pending", not_before=now + timedelta(seconds=pause))


def resolved_as_sent(delivery: Delivery, now: datetime) -> Delivery:
    """The message after a person has seen that it arrived."""
    return replace(delivery, state="sent", sent_at=delivery.sent_at or now, error=None)


def resolved_to_resend(delivery: Delivery) -> Delivery:
    """The message after a person has decided to send it (again), in its newest words."""
    content = delivery.changed or delivery.content
    # One that arrived, or says something new, must not be dropped for its old key.
    renewed = delivery.state == "sent" or delivery.changed is not None
    return replace(
        delivery,
        content=content,
        digest=digest_of(content),
        changed=None,
        state="pending",
        by_hand=False,
        revision=delivery.revision + (1 if renewed else 0),
        attempts=0,
        not_before=None,
        sender=None,
        error=None,
        status=None,
    )


def _unless_same(existing: Delivery, kept: Delivery) -> Delivery | None:
    return None if existing == kept else kept


def _offer(delivery: Delivery, outcome: Any, words: str) -> Offer:
    return Offer(key=delivery.key, effect=delivery.effect, outcome=outcome, words=words)


def _held(delivery: Delivery) -> str:
    return (
        "unknown whether it arrived, held: setpoint effects resolve "
        f"{delivery.key[:12]} --sent or --resend"
    )


def _at(delivery: Delivery) -> str:
    return f"{delivery.sent_at:%Y-%m-%d %H:%M:%SZ}" if delivery.sent_at else ""
