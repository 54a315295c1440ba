"""A sender that dies: real processes, real `kill -9`, real receivers."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from bench.effects import Receiver, effect, record, send_to_the_end

from setpoint.effects.sender import is_alive
from setpoint.ledger.outbox import Selection
from setpoint.ledger.sqlite import SqliteLedger

if TYPE_CHECKING:
    from pathlib import Path

    from tests.effects.receivers import HttpReceiver

SENDER = """
import os, signal, sys, threading, time
from pathlib import Path
from setpoint import http, send_once
from setpoint.effects import http as sending
from setpoint.ledger.outbox import Outbox
url, ledger, keyed, moment = sys.argv[1:5]
die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
if moment == "before":                     # taken, and nothing said to the receiver yet
    sending.HttpSender.send = die
elif moment == "after":                    # the receiver has answered, nobody has written it down
    Outbox.settle = die
send_once(
    http("charge", url=url, each="id", key_header="Idempotency-Key" if keyed == "yes" else None,
         allow=["private", "http"]),
    {"id": 1}, scope="payments", ledger="sqlite:///" + ledger, folder="/",
)
"""


def send(url: str, ledger: Path, *, keyed: bool, moment: str = "never") -> int:
    """Run a sender; how it ended."""
    words = [url, str(ledger).lstrip("/"), "yes" if keyed else "no", moment]
    return subprocess.run(
        [sys.executable, "-c", SENDER, *words], check=False, capture_output=True
    ).returncode


@pytest.mark.parametrize("moment", ["before", "after"])
def test_scenario_6_killed_inside_an_effect_with_a_key(
    web: HttpReceiver, tmp_path: Path, moment: str
) -> None:
    """Before or after the receiver answered: sent again with the same key, acted on once."""
    ledger = tmp_path / "ledger.db"
    assert send(web.url, ledger, keyed=True, moment=moment) == -9
    assert send(web.url, ledger, keyed=True) == 0
    assert list(web.acted.values()) == [1]
    assert len(web.requests) == (1 if moment == "before" else 2)
    with SqliteLedger(ledger) as opened:
        assert [each.state for each in opened.outbox.deliveries()] == ["sent"]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_scenario_6_killed_inside_an_effect_without_a_key(
    keyless: HttpReceiver, tmp_path: Path, moment: str
) -> None:
    """Nobody knows whether it arrived: held, never sent a second time by itself."""
    ledger = tmp_path / "ledger.db"
    assert send(keyless.url, ledger, keyed=False, moment=moment) == -9
    for _ in range(2):
        assert send(keyless.url, ledger, keyed=False) == 0
    assert len(keyless.requests) == (0 if moment == "before" else 1)
    with SqliteLedger(ledger) as opened:
        (held,) = opened.outbox.deliveries(state="unknown")
        opened.outbox.resolve(held.key, decision="resend")
    assert send(keyless.url, ledger, keyed=False) == 0
    assert len(keyless.requests) == (1 if moment == "before" else 2)


def test_a_message_in_the_hands_of_a_living_process_is_left_to_it(
    tmp_path: Path, keyless: HttpReceiver
) -> None:
    """Only the dead are swept: this process took it, and this process lives."""
    from setpoint.effects.sender import this_sender
    from setpoint.model.letter import Occasion, letters

    with SqliteLedger(tmp_path / "ledger.db") as opened:
        outbox = opened.outbox
        occasion = Occasion(task="payments", window=None, recorded_at=outbox.now())
        from setpoint.model.receiver import http

        made = letters(http("charge", url=keyless.url, each="id"), [{"id": 1}], occasion)
        outbox.offer(made)
        outbox.take(Selection(), this_sender(), 5)
        outbox.sweep(Selection(), alive=is_alive)
        assert [each.state for each in outbox.deliveries()] == ["sending"]


@pytest.mark.parametrize("keyed", [True, False])
def test_scenario_40_killed_at_random_each_is_done_once(tmp_path: Path, keyed: bool) -> None:
    """A small `make effects-bench`: once where keys are honoured, never twice elsewhere."""
    receiver = Receiver()
    try:
        ledger = tmp_path / "ledger.db"
        record(ledger, [effect(receiver, keyed=keyed)], 300)
        deaths = send_to_the_end(ledger, chance=random.Random(7), kills=4)
        received = receiver.received("/keyed" if keyed else "/keyless")
    finally:
        receiver.close()
    assert deaths.kills > 0
    assert set(received.values()) == {1}
    if keyed:
        assert len(received) == 300
        assert deaths.states == {"sent": 300}
    else:
        assert 300 - len(received) <= deaths.unknown
        assert sum(deaths.states.values()) == 300
