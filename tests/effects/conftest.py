"""Receivers on loopback, an outbox of each kind, and short words for what tests say often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.effects.receivers import HttpReceiver, MailReceiver

from setpoint.effects.sending import Dispatcher, Sent
from setpoint.effects.transport import Transports, function_of
from setpoint.ledger.memory import MemoryLedger
from setpoint.ledger.outbox import Selection
from setpoint.ledger.sqlite import SqliteLedger
from setpoint.model.letter import Occasion, letters
from setpoint.model.retry import Backoff

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from setpoint.ledger.protocol import Ledger
    from setpoint.model.delivery import Delivery, Offer
    from setpoint.model.effect import Effect

AT_ONCE = Backoff(first=0.0, longest=0.0)
LOOPBACK = ["private", "http"]


class Desk:
    """An outbox, and a dispatcher that never waits long."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.outbox = ledger.outbox
        self.effects: dict[tuple[str, str], Any] = {}

    def record(self, effect: Effect, *rows: dict[str, Any], task: str = "orders") -> list[Offer]:
        """Record the messages of some rows."""
        self.effects |= function_of(task, effect)
        occasion = Occasion(task=task, window=None, recorded_at=self.outbox.now())
        return self.outbox.offer(letters(effect, rows, occasion))

    def send(self, **chosen: Any) -> Sent:
        """Send what is due."""
        dispatcher = Dispatcher(self.outbox, transport=Transports(lambda: self.effects), patience=5)
        return dispatcher.send(Selection(**chosen))

    def do(self, effect: Effect, *rows: dict[str, Any]) -> Sent:
        """Record and send."""
        self.record(effect, *rows)
        return self.send()

    def only(self) -> Delivery:
        """The one message there is."""
        (found,) = self.outbox.deliveries()
        return found


@pytest.fixture(params=["memory", "sqlite"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    """An empty outbox of each kind."""
    made: Ledger = (
        MemoryLedger() if request.param == "memory" else SqliteLedger(tmp_path / "ledger.db")
    )
    with made:
        yield Desk(made)


@pytest.fixture
def web() -> Iterator[HttpReceiver]:
    """An HTTP receiver that honours keys."""
    receiver = HttpReceiver()
    yield receiver
    receiver.close()


@pytest.fixture
def keyless() -> Iterator[HttpReceiver]:
    """An HTTP receiver that does what it is asked, each time."""
    receiver = HttpReceiver(honours_keys=False)
    yield receiver
    receiver.close()


@pytest.fixture
def post() -> Iterator[MailReceiver]:
    """A mail server."""
    receiver = MailReceiver()
    yield receiver
    receiver.close()
