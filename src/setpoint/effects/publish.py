"""Publishing: to Kafka, or to any function that takes a message."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from setpoint.effects.call import verdict_of
from setpoint.effects.secret import expanded, scrubbed
from setpoint.errors import EffectRefused, MissingExtra
from setpoint.model.idempotency_key import canonical_json, idempotency_key
from setpoint.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.model.delivery import Delivery

HEADER = "idempotency-key"
POLL = 0.05
# After these the broker certainly has nothing, and another try would end alike.
REFUSED = frozenset(
    {
        "MSG_SIZE_TOO_LARGE",
        "_UNKNOWN_TOPIC",
        "UNKNOWN_TOPIC_OR_PART",
        "TOPIC_AUTHORIZATION_FAILED",
        "CLUSTER_AUTHORIZATION_FAILED",
        "INVALID_MSG",
        "TOPIC_EXCEPTION",
        "_AUTHENTICATION",
        "_INVALID_ARG",
    }
)
NOT_RECEIVED = frozenset({"_QUEUE_FULL", "NOT_ENOUGH_REPLICAS"})


class FunctionPublisher:
    """Hands each message to a producer of the author's own."""

    def __init__(self, producer: Callable[..., Any]) -> None:
        self._producer = producer

    def send(self, delivery: Delivery) -> Verdict:
        """One attempt."""
        topic, key, value, headers = message_of(delivery)
        return verdict_of(delivery, lambda: self._producer(topic, key, value, headers))

    def close(self) -> None:
        """The producer is its author's."""


class KafkaPublisher:
    """Publishes to Kafka, acknowledged by every replica in sync; one producer for all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._producers: dict[str, Any] = {}

    def send(self, delivery: Delivery) -> Verdict:
        """One attempt: done when the broker has said so."""
        from confluent_kafka import KafkaException

        try:
            producer = self._producer(delivery)
        except EffectRefused as error:
            return Verdict(arrival="refused", reason=scrubbed(error.message, delivery.content))
        except KafkaException as error:
            reason = f"the Kafka client refuses its settings: {error.args[0]}"
            return Verdict(arrival="refused", reason=scrubbed(reason, delivery.content))
        ends: list[Any] = []
        done = threading.Event()

        def delivered(error: Any, _message: Any) -> None:
            ends.append(error)
            done.set()

        topic, key, value, headers = message_of(delivery)
        try:
            producer.produce(topic, key=key, value=value, headers=headers, on_delivery=delivered)
        except BufferError as error:
            return Verdict(arrival="again", reason=scrubbed(str(error), delivery.content))
        except KafkaException as error:
            return _verdict(error.args[0], delivery)
        until = time.monotonic() + delivery.terms.timeout + 1
        while not done.is_set() and time.monotonic() < until:
            producer.poll(POLL)
        if not ends:
            return Verdict(arrival="unclear", reason="the broker did not answer in time")
        return _verdict(ends[0], delivery)

    def close(self) -> None:
        """Producers serve every thread, and end with the process."""

    def _producer(self, delivery: Delivery) -> Any:
        from confluent_kafka import Producer

        content = delivery.content
        what = f"the settings of effect {delivery.effect}"
        config = {
            "bootstrap.servers": expanded(str(content["server"]), what=what),
            "enable.idempotence": True,
            "linger.ms": 2,
            "delivery.timeout.ms": max(1000, int(delivery.terms.timeout * 1000)),
            "request.timeout.ms": max(500, int(delivery.terms.timeout * 1000)),
            # The client's own log would print servers and settings on standard error.
            "log_level": 0,
        }
        for name, value in dict(content.get("config") or {}).items():
            config[name] = expanded(str(value), what=what)
        name = idempotency_key(config)
        with self._lock:
            if name not in self._producers:
                self._producers[name] = Producer(config)
            return self._producers[name]


def kafka_publisher() -> KafkaPublisher:
    """The publisher; says which extra is missing when there is no client for Kafka."""
    try:
        import confluent_kafka  # noqa: F401
    except ModuleNotFoundError:
        raise MissingExtra("confluent-kafka", "kafka") from None
    return KafkaPublisher()


def message_of(delivery: Delivery) -> tuple[str, bytes, bytes, list[tuple[str, bytes]]]:
    """Topic, key, value and headers."""
    content = delivery.content
    return (
        str(content["topic"]),
        str(content["message_key"]).encode(),
        canonical_json(content["value"]).encode(),
        [(HEADER, delivery.wire_key.encode())],
    )


def _verdict(error: Any, delivery: Delivery) -> Verdict:
    if error is None:
        return Verdict(arrival="sent")
    reason = scrubbed(f"Kafka: {error.str()}", delivery.content)
    if error.name() in REFUSED:
        return Verdict(arrival="refused", reason=reason)
    if error.name() in NOT_RECEIVED:
        return Verdict(arrival="again", reason=reason)
    return Verdict(arrival="unclear", reason=reason)
