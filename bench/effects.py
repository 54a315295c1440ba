"""Effects under `kill -9`, and how many a second: `make effects-bench`.

Two parts, each against a receiver in a process of its own on loopback. First the pace: keyed HTTP
effects a second from one sender, recorded before. Then the deaths: a sender is killed at random
moments and started again until nothing is left to send.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.ledger.instant import utc_now
from setpoint.ledger.outbox import Selection
from setpoint.ledger.sqlite import SqliteLedger
from setpoint.model.letter import Occasion, letters
from setpoint.model.receiver import http
from setpoint.model.retry import Backoff

if TYPE_CHECKING:
    from setpoint.model.effect import Effect

SENDER = """
import sys
from pathlib import Path
from setpoint.effects.sending import Dispatcher
from setpoint.effects.transport import Transports
from setpoint.ledger.outbox import Selection
from setpoint.ledger.sqlite import SqliteLedger
print("ready", flush=True)
with SqliteLedger(Path(sys.argv[1])) as ledger:
    Dispatcher(ledger.outbox, transport=Transports(dict)).send(Selection())
"""


@dataclass
class Deaths:
    """What a series of kills left behind."""

    kills: int = 0
    unknown: int = 0
    states: dict[str, int] = field(default_factory=dict)
    received: dict[str, int] = field(default_factory=dict)


class Receiver:
    """The receiver's process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.effect_receiver"], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.root = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    def received(self, path: str) -> dict[str, int]:
        """How often each thing was done."""
        with urllib.request.urlopen(f"{self.root}/counts") as answer:  # noqa: S310 — its own server
            found: dict[str, int] = json.load(answer)["by_key"][path]
        return found

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait()


def effect(receiver: Receiver, *, keyed: bool) -> Effect:
    """A call a row."""
    return http(
        "charge" if keyed else "charge_keyless",
        url=receiver.root + ("/keyed" if keyed else "/keyless"),
        each="id",
        body={"id": "{id}", "amount": "{amount}"},
        key_header="Idempotency-Key" if keyed else None,
        concurrency=8 if keyed else 4,
        limit=100_000,
        allow=["private", "http"],
        backoff=Backoff(first=0.01, longest=0.1),
    )


def record(ledger: Path, effects: list[Effect], count: int) -> None:
    """Lay `count` messages of each effect into the outbox."""
    rows = [{"id": n, "amount": n * 3} for n in range(count)]
    occasion = Occasion(task="payments", window=None, recorded_at=utc_now())
    with SqliteLedger(ledger) as opened:
        for each in effects:
            opened.outbox.offer(letters(each, rows, occasion))


def send_to_the_end(ledger: Path, *, chance: random.Random, kills: int) -> Deaths:
    """Start a sender, kill it after a moment, and so on; the last one may finish."""
    deaths = Deaths()
    while True:
        process = subprocess.Popen(
            [sys.executable, "-c", SENDER, str(ledger)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        if deaths.kills < kills:
            try:
                process.wait(timeout=chance.uniform(0.02, 0.6))
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                deaths.kills += 1
        process.wait()
        process.stdout.close()
        with SqliteLedger(ledger) as opened:
            waiting, _ = opened.outbox.next_due(Selection())
            tallies = opened.outbox.tallies()
        states: dict[str, int] = {}
        for tally in tallies:
            states[tally.state] = states.get(tally.state, 0) + tally.count
        if process.returncode == 0 and not waiting and not states.get("sending"):
            deaths.states = states
            deaths.unknown = states.get("unknown", 0)
            return deaths


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=20260425)
    given = parser.parse_args()
    receiver = Receiver()
    try:
        with tempfile.TemporaryDirectory() as folder:
            ledger = Path(folder) / "pace.db"
            record(ledger, [effect(receiver, keyed=True)], given.count)
            begun = time.monotonic()
            subprocess.run([sys.executable, "-c", SENDER, str(ledger)], check=True)
            seconds = time.monotonic() - begun
            assert len(receiver.received("/keyed")) == given.count
            pace = given.count / seconds
            print(f"pace: {given.count:,} keyed effects in {seconds:.1f} s: {pace:,.0f} a second")
    finally:
        receiver.close()
    for keyed in (True, False):
        receiver = Receiver()
        try:
            with tempfile.TemporaryDirectory() as folder:
                ledger = Path(folder) / "ledger.db"
                record(ledger, [effect(receiver, keyed=keyed)], given.count)
                chance = random.Random(given.seed)  # noqa: S311 — moments to kill at
                deaths = send_to_the_end(ledger, chance=chance, kills=given.kills)
                times = receiver.received("/keyed" if keyed else "/keyless")
        finally:
            receiver.close()
        name = "keys honoured" if keyed else "no keys"
        most = max(times.values())
        print(
            f"{name}: {given.count:,} effects, {deaths.kills} kills: {len(times):,} received, "
            f"most often {most}, unknown and listed {deaths.unknown}"
        )
        assert most == 1
        if keyed:
            assert len(times) == given.count
        else:
            assert given.count - len(times) <= deaths.unknown


if __name__ == "__main__":
    main()
