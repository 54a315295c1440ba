"""The dispatcher: takes messages out of the outbox, sends them, and says what became of each."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from setpoint.effects.sender import is_alive, this_sender
from setpoint.errors import SetpointError
from setpoint.ledger.outbox import Selection
from setpoint.model.delivery import GRACE
from setpoint.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.ledger.outbox import Outbox
    from setpoint.model.delivery import Delivery, Sender

PATIENCE = 120.0
SAY_EVERY = 2.0
GROUPS = 1000


class Transport(Protocol):
    """Sends one kind of message."""

    def send(self, delivery: Delivery) -> Verdict:
        """One attempt."""
        ...

    def close(self) -> None:
        """Let go of what the calling thread keeps open."""
        ...


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What one dispatch did."""

    counts: Counter[str] = field(default_factory=Counter)
    """How many messages ended in each state."""
    ended: dict[str, Delivery] = field(default_factory=dict)
    """Those that did not arrive, by key."""
    later: int = 0
    """How many attempts are put off beyond this dispatch's patience."""


class Dispatcher:
    """Sends what is due at each effect's own pace; waits for retries while it has patience."""

    def __init__(
        self,
        outbox: Outbox,
        *,
        transport: Callable[[Delivery], Transport],
        say: Callable[[str], None] = lambda _text: None,
        patience: float = PATIENCE,
    ) -> None:
        self._outbox = outbox
        self._transport = transport
        self._say = say
        self._patience = patience
        self._sent = Sent()
        self._unsendable: dict[tuple[str, str], str] = {}
        self._said = time.monotonic()

    @property
    def waiting(self) -> tuple[str, ...]:
        """Why some messages could not even be tried."""
        return tuple(self._unsendable.values())

    def send(self, chosen: Selection) -> Sent:
        """Send everything of the selection that is due; what died in the middle is found first."""
        self._sent = Sent()
        for held in self._outbox.sweep(chosen, alive=is_alive):
            self._count(held)
        give_up = time.monotonic() + self._patience
        while True:
            groups = self._groups(chosen)
            for group, transport in groups:
                _Lane(self, group, self._outbox, transport).run(chosen)
            waiting, moment = self._outbox.next_due(chosen)
            if not waiting or (self._unsendable and not groups):
                return self._sent
            pause = (moment - self._outbox.now()).total_seconds() if moment else 0.0
            if time.monotonic() + pause > give_up:
                return self._sent
            if pause > 0:
                time.sleep(min(pause, 1.0))

    def settle(self, ends: list[tuple[Delivery, Verdict]]) -> None:
        """Record the ends of attempts, and tell how it goes."""
        if not ends:
            return
        for after in self._outbox.settle(ends):
            self._count(after)
        if time.monotonic() - self._said > SAY_EVERY:
            self._said = time.monotonic()
            counts = self._sent.counts
            told = ", ".join(f"{counts[state]:,} {state}" for state in sorted(counts))
            self._say(f"sending effects: {told}")

    def _count(self, after: Delivery) -> None:
        if after.state == "pending":
            self._sent.counts["retried"] += 1
            return
        self._sent.counts[after.state] += 1
        if after.state != "sent":
            self._sent.ended[after.key] = after

    def _groups(self, chosen: Selection) -> list[tuple[Delivery, Transport]]:
        """One due message of each effect that can be sent from here."""
        due = self._outbox.due(chosen, GROUPS)
        firsts = {(each.task, each.effect): each for each in reversed(due)}
        groups = []
        for name, first in firsts.items():
            try:
                groups.append((first, self._transport(first)))
            except SetpointError as error:
                fix = f"; next: {error.next_step}" if error.next_step else ""
                self._unsendable[name] = error.message + fix
        return groups


class _Lane:
    """The messages of one effect in flight."""

    def __init__(
        self, dispatcher: Dispatcher, first: Delivery, outbox: Outbox, transport: Transport
    ) -> None:
        self._dispatcher = dispatcher
        self._outbox = outbox
        self._transport = transport
        self._first = first
        self._terms = first.terms
        # With a key, some wait behind each thread so that none idles. Without one, what is taken
        # is being sent: when the process dies, no more of them are unknown than there are threads.
        self._window = self._terms.concurrency * (4 if first.honours_key else 1)
        # Own functions are left at their time. The other transports keep theirs, word by word, and
        # know best how an attempt ended.
        self._slack = 0.0 if first.kind == "call" else GRACE * 0.75
        self._todo: queue.SimpleQueue[Delivery | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[Delivery, Verdict]] = queue.SimpleQueue()
        self._flying: dict[str, tuple[Delivery, float]] = {}
        self._ended: list[tuple[Delivery, Verdict]] = []
        self._next_start = time.monotonic()

    def run(self, chosen: Selection) -> None:
        """Send until nothing of this effect is due."""
        first, sender = self._first, this_sender()
        only = Selection(
            task=first.task, effect=first.effect, key=chosen.key, by_hand=chosen.by_hand
        )
        threads = [
            threading.Thread(target=self._work, name=f"effect-{n}", daemon=True)
            for n in range(self._terms.concurrency)
        ]
        for thread in threads:
            thread.start()
        try:
            while True:
                took = self._take(only, sender)
                if not self._flying and not took:
                    return
                self._collect()
                self._dispatcher.settle(self._ended)
                self._ended = []
        except BaseException:
            self._drop()
            raise
        finally:
            for _ in threads:
                self._todo.put(None)

    def _take(self, only: Selection, sender: Sender) -> bool:
        room = self._window - len(self._flying)
        if room < max(1, self._window // 2):
            return False
        if self._terms.rate:
            now = time.monotonic()
            allowed = int((now - self._next_start) * self._terms.rate) + 1
            if now < self._next_start:
                if not self._flying:
                    time.sleep(self._next_start - now)
                    return True
                return False
            # After a pause at most a tenth of a second's worth goes out at once.
            room = min(room, allowed, max(1, int(self._terms.rate / 10)))
        taken = self._outbox.take(only, sender, room)
        until = time.monotonic() + self._terms.timeout + self._slack
        for each in taken:
            self._flying[each.key] = (each, until)
            self._todo.put(each)
        if self._terms.rate and taken:
            self._next_start = max(self._next_start, time.monotonic() - 1 / self._terms.rate)
            self._next_start += len(taken) / self._terms.rate
        return bool(taken)

    def _collect(self) -> None:
        """Note the attempts that have ended; waits for one."""
        pause = self._pause() if self._flying else 0.0
        try:
            while self._flying:
                # A second Ctrl-C may come between any two of these lines: noted first, then let go.
                each, verdict = self._done.get(timeout=pause) if pause else self._done.get_nowait()
                pause = 0.0
                if each.key in self._flying:
                    self._ended.append((each, verdict))
                    del self._flying[each.key]
        except queue.Empty:
            pass
        now = time.monotonic()
        # A function that never comes back: its thread is left behind, its message is unclear.
        for each, _until in [entry for entry in self._flying.values() if entry[1] < now]:
            del self._flying[each.key]
            verdict = Verdict(arrival="unclear", reason="no end within its time")
            self._ended.append((each, verdict))
            threading.Thread(target=self._work, name="effect-more", daemon=True).start()

    def _pause(self) -> float:
        first = min(until for _, until in self._flying.values())
        pause = max(0.01, first - time.monotonic())
        if self._terms.rate and len(self._flying) < self._window:
            pause = min(pause, max(0.001, self._next_start - time.monotonic()))
        return min(pause, 1.0)

    def _drop(self) -> None:
        """Stopped in the middle: give back what was not begun, and say that the rest is unclear."""
        unsent = []
        while not self._todo.empty():
            each = self._todo.get_nowait()
            if each is not None and each.key in self._flying:
                unsent.append(each)
                del self._flying[each.key]
        while not self._done.empty():
            self._ended.append(self._done.get_nowait())
        known = {each.key for each, _ in self._ended}
        verdict = Verdict(arrival="unclear", reason="stopped while it was being sent")
        self._ended += [(e, verdict) for e, _ in self._flying.values() if e.key not in known]
        self._outbox.put_back(unsent)
        self._outbox.settle(self._ended)

    def _work(self) -> None:
        while True:
            each = self._todo.get()
            if each is None:
                self._transport.close()
                return
            try:
                verdict = self._transport.send(each)
            except SetpointError as error:
                verdict = Verdict(arrival="refused", reason=error.message)
            except BaseException as error:  # noqa: BLE001 — a thread's fault must reach the record
                verdict = Verdict(arrival="unclear", reason=f"{type(error).__name__}: {error}")
            self._done.put((each, verdict))
