"""What every outbox does, in memory and in tables."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from setpoint.errors import LedgerError, UsageError
from setpoint.ledger.memory import MemoryLedger
from setpoint.ledger.outbox import Selection, Skip
from setpoint.model.delivery import Sender
from setpoint.model.letter import Occasion, letters
from setpoint.model.receiver import http
from setpoint.model.verdict import Verdict
from setpoint.model.window import Window

if TYPE_CHECKING:
    from tests.ledger.conftest import Clock, Scene

    from setpoint.ledger.protocol import Ledger
    from setpoint.model.delivery import Delivery

ME = Sender(claim="c1", host="here", pid=1)
OTHER = Sender(claim="c2", host="there", pid=2)
SENT = Verdict(arrival="sent")


def never(_sender: Sender) -> bool | None:
    """Nobody can be asked."""
    return None


def made(ledger: Ledger, *numbers: int, task: str = "orders", **changes: Any) -> list[Delivery]:
    """Messages, a number each."""
    options = {"url": "https://a.example/", "each": "id", **changes}
    occasion = Occasion(task=task, window=None, recorded_at=ledger.outbox.now())
    return letters(http("told", **options), [{"id": number} for number in numbers], occasion)


def test_a_message_is_kept_as_it_was_recorded(ledger: Ledger, scene: Scene) -> None:
    """Every field comes back, numbers exact, windows and moments in UTC."""
    start, end = scene.day(3)
    occasion = Occasion(
        task="orders",
        window=Window(start=start, end=end),
        recorded_at=ledger.outbox.now(),
        run_id="r1",
    )
    effect = http("told", url="https://a.example/{id}", each=["id", "name"], rate=2.5, timeout=7)
    row = {"id": 1, "name": "Zoë 🎉", "amount": Decimal("12345678901234567890.123"), "at": start}
    (letter,) = letters(effect, [row], occasion)
    ledger.outbox.offer([letter])
    (kept,) = ledger.outbox.deliveries()
    assert kept == letter
    assert kept.business_id == "1, Zoë 🎉"
    assert (kept.window_start, kept.terms.rate, kept.terms.timeout) == (start, 2.5, 7)


def test_messages_are_taken_in_order_and_by_one_only(ledger: Ledger) -> None:
    """What one sender took, another does not get."""
    outbox = ledger.outbox
    outbox.offer(made(ledger, 3, 1, 2))
    first = outbox.take(Selection(), ME, 2)
    second = outbox.take(Selection(), OTHER, 5)
    assert [each.business_id for each in [*first, *second]] == ["3", "1", "2"]
    assert outbox.take(Selection(), OTHER, 5) == []
    outbox.settle([(each, SENT) for each in first])
    assert [t.state for t in outbox.tallies()] == ["sending", "sent"]


def test_only_who_took_it_says_what_became_of_it(ledger: Ledger) -> None:
    """Another sender's word about it is not heard."""
    outbox = ledger.outbox
    outbox.offer(made(ledger, 1))
    (mine,) = outbox.take(Selection(), ME, 1)
    assert outbox.settle([(replace(mine, sender=OTHER), SENT)]) == []
    assert outbox.find(mine.key).state == "sending"


def test_a_sender_of_another_machine_is_given_its_time(ledger: Ledger, clock: Clock) -> None:
    """After that it is unknown; its own word still counts, whatever the clocks said."""
    outbox = ledger.outbox
    outbox.offer(made(ledger, 1, key_header=None, timeout=10))
    (theirs,) = outbox.take(Selection(), OTHER, 1)
    assert outbox.sweep(Selection(), alive=never) == []
    clock.at += timedelta(seconds=100)
    (held,) = outbox.sweep(Selection(), alive=never)
    assert held.state == "unknown"
    outbox.settle([(theirs, SENT)])
    assert outbox.find(held.key).state == "sent"


def test_a_dead_senders_message_is_due_again_where_keys_are_honoured(ledger: Ledger) -> None:
    """And held where they are not."""
    outbox = ledger.outbox
    outbox.offer([*made(ledger, 1), *made(ledger, 2, task="others", key_header=None)])
    outbox.take(Selection(), ME, 5)
    outbox.sweep(Selection(), alive=lambda _sender: False)
    assert [(t.task, t.state) for t in outbox.tallies()] == [
        ("orders", "pending"),
        ("others", "unknown"),
    ]


def test_a_retry_waits_for_its_time(ledger: Ledger, clock: Clock) -> None:
    """Not due before, due after, and the outbox knows when."""
    outbox = ledger.outbox
    outbox.offer(made(ledger, 1))
    (taken,) = outbox.take(Selection(), ME, 1)
    again = Verdict(arrival="again", reason="busy", retry_after=60.0)
    (after,) = outbox.settle([(taken, again)])
    assert (after.state, after.error) == ("pending", "busy")
    assert outbox.take(Selection(), ME, 1) == []
    assert outbox.next_due(Selection()) == (True, after.not_before)
    clock.at += timedelta(seconds=61)
    assert len(outbox.take(Selection(), ME, 1)) == 1


def test_what_was_not_begun_is_put_back(ledger: Ledger) -> None:
    """It was no attempt."""
    outbox = ledger.outbox
    outbox.offer(made(ledger, 1))
    outbox.put_back(outbox.take(Selection(), ME, 1))
    (back,) = outbox.deliveries()
    assert (back.state, back.attempts, back.sender) == ("pending", 0, None)


def test_selections_are_kept(ledger: Ledger) -> None:
    """By task, by effect, by key."""
    outbox = ledger.outbox
    outbox.offer([*made(ledger, 1, 2), *made(ledger, 3, task="others")])
    assert len(outbox.due(Selection(task="orders"), 10)) == 2
    assert outbox.due(Selection(effect="else"), 10) == []
    key = outbox.deliveries()[0].key
    assert [each.key for each in outbox.due(Selection(key=key), 10)] == [key]


def test_skips_are_noted_once_and_forgotten_when_insisted_on(ledger: Ledger, scene: Scene) -> None:
    """A skip is of one task, window and effect; a new key of that window is not recorded."""
    outbox = ledger.outbox
    start, end = scene.day(1)
    for _ in range(2):
        outbox.skip([
            Skip(task="orders", window_start=None, window_end=None, effect="told", at=start),
            Skip(task="orders", window_start=start, window_end=end, effect="told", at=start),
        ])  # fmt: skip
    assert len(outbox.skips()) == len(outbox.skips("orders")) == 2
    assert outbox.skips("else") == []
    (offer,) = outbox.offer(made(ledger, 1))
    assert offer.outcome == "skipped"
    assert outbox.deliveries() == []
    (offer,) = outbox.offer(made(ledger, 1), insist=True)
    assert offer.outcome == "recorded"
    assert [skip.window_start for skip in outbox.skips()] == [start]


def test_a_key_is_found_by_how_it_begins(ledger: Ledger) -> None:
    """The only one that begins so; else an error that says what to do."""
    outbox = ledger.outbox
    outbox.offer(made(ledger, 1, 2))
    key = outbox.deliveries()[0].key
    assert outbox.find(key[:10].upper()).key == key
    for prefix in ("", key[:3], "0" * 40):
        with pytest.raises(UsageError):
            outbox.find(prefix)


def test_what_is_being_sent_is_not_resolved(ledger: Ledger) -> None:
    """A person waits for the process that has it."""
    outbox = ledger.outbox
    outbox.offer(made(ledger, 1))
    (taken,) = outbox.take(Selection(), ME, 1)
    with pytest.raises(UsageError, match="being sent"):
        outbox.resolve(taken.key, decision="resend")


def test_a_failed_transaction_keeps_nothing(ledger: Ledger, scene: Scene) -> None:
    """All that one call has to note is kept, or none of it."""
    start, end = scene.day(1)
    good = Skip(task="orders", window_start=start, window_end=end, effect="told", at=start)
    broken: Any = None
    with pytest.raises(AttributeError):
        ledger.outbox.skip([good, broken])
    assert ledger.outbox.skips() == []


def test_a_ledger_for_reading_takes_no_message() -> None:
    """Looking changes nothing."""
    ledger = MemoryLedger(readonly=True)
    assert ledger.outbox.deliveries() == []
    with pytest.raises(LedgerError, match="reading"):
        ledger.outbox.offer(made(MemoryLedger(), 1))
