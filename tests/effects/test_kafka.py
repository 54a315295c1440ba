"""Publishing to a real Kafka: every message carries its key, and a consumer drops repeats (I3)."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Message
from tests.effects.conftest import AT_ONCE, Desk
from tests.kafka_broker import KafkaBroker

from setpoint.effects import publish as publishing
from setpoint.effects.once import ProcessedEvents, once
from setpoint.ledger.sqlite import SqliteLedger
from setpoint.model.receiver import publish
from setpoint.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from setpoint.model.delivery import Delivery
    from setpoint.model.effect import Effect

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def broker() -> Iterator[KafkaBroker]:
    """One broker for the module."""
    broker = KafkaBroker()
    yield broker
    broker.close()


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Desk]:
    """An outbox in a file."""
    with SqliteLedger(tmp_path / "ledger.db") as ledger:
        yield Desk(ledger)


def events(broker: KafkaBroker, topic: str, **changes: Any) -> Effect:
    """An event a row."""
    given: dict[str, Any] = {
        "topic": topic,
        "servers": broker.servers,
        "each": "event_id",
        "backoff": AT_ONCE,
        "timeout": 20,
    }
    return publish("events", **(given | changes))


def consumed(broker: KafkaBroker, topic: str, count: int) -> list[Message]:
    """The messages of a topic, from its beginning; waits for as many as there should be."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.servers,
            "group.id": f"reader-of-{topic}",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    found: list[Message] = []
    quiet = 0
    while quiet < (2 if len(found) >= count else 40):
        message = consumer.poll(0.5)
        if message is None or message.error():
            quiet += 1
            continue
        quiet = 0
        found.append(message)
    consumer.close()
    return found


def test_a_message_is_published_once_with_its_key_and_header(
    shelf: Desk, broker: KafkaBroker
) -> None:
    """Business id as message key, idempotency key as header; a rerun publishes nothing."""
    effect = events(broker, "plain")
    rows = [{"event_id": n, "kind": "click"} for n in range(5)]
    assert shelf.do(effect, *rows).counts == {"sent": 5}
    assert shelf.do(effect, *rows).counts == {}
    messages = consumed(broker, "plain", 5)
    assert sorted(bytes(m.key() or b"") for m in messages) == [b"0", b"1", b"2", b"3", b"4"]
    first = next(m for m in messages if m.key() == b"0")
    assert json.loads(first.value() or b"") == {"event_id": 0, "kind": "click"}
    headers = {dict(message.headers() or [])["idempotency-key"] for message in messages}
    assert headers == {each.key.encode() for each in shelf.outbox.deliveries()}


def test_a_lost_acknowledgement_is_published_again_and_dropped_by_the_consumer(
    shelf: Desk, broker: KafkaBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The topic may hold it twice; `processed_events` lets the work be done once."""
    right = publishing.KafkaPublisher.send
    lost = ["the acknowledgement"]

    def forgetful(self: publishing.KafkaPublisher, delivery: Delivery) -> Verdict:
        verdict = right(self, delivery)
        if verdict.arrival == "sent" and lost:
            return Verdict(arrival="unclear", reason=f"lost: {lost.pop()}")
        return verdict

    monkeypatch.setattr(publishing.KafkaPublisher, "send", forgetful)
    assert shelf.do(events(broker, "twice"), {"event_id": 7}).counts == {"retried": 1, "sent": 1}
    messages = consumed(broker, "twice", 2)
    assert len(messages) == 2
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE booking (event_id INTEGER)")
    store = ProcessedEvents(connection)
    store.create()
    for message in messages:
        key = str(dict(message.headers() or [])["idempotency-key"])
        event = json.loads(message.value() or b"")

        def book(cursor: Any, event: Any = event) -> None:
            cursor.execute("INSERT INTO booking VALUES (?)", (event["event_id"],))

        once(key, store)(book)
    assert connection.execute("SELECT * FROM booking").fetchall() == [(7,)]


def test_a_message_that_is_too_large_is_refused_for_good(shelf: Desk, broker: KafkaBroker) -> None:
    """The broker's limit: no retry would change it."""
    effect = events(broker, "large", value={"text": "{text}"}, config={"message.max.bytes": "2000"})
    assert shelf.do(effect, {"event_id": 1, "text": "x" * 5000}).counts == {"failed": 1}


def test_a_broker_that_is_away_is_tried_again(shelf: Desk) -> None:
    """Consumers that drop repeats make another try harmless; after the last it is unknown."""
    effect = publish(
        "events", topic="t", servers="127.0.0.1:1", each="event_id", timeout=1, retries=1,
        backoff=AT_ONCE,
    )  # fmt: skip
    assert shelf.do(effect, {"event_id": 1}).counts == {"retried": 1, "unknown": 1}
