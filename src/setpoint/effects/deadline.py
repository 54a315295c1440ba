"""A limit on all of an attempt: a receiver that sends a byte now and then must not hold it."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOK_EVERY = 0.25


class _Watch:
    """One thread that cuts the connections whose time is over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = False
        self._watched: dict[int, tuple[float, socket.socket]] = {}
        self._numbers = itertools.count()

    def add(self, connection: socket.socket, until: float) -> int:
        number = next(self._numbers)
        with self._lock:
            self._watched[number] = (until, connection)
            if not self._running:
                self._running = True
                threading.Thread(target=self._look, name="deadlines", daemon=True).start()
        return number

    def remove(self, number: int) -> None:
        with self._lock:
            self._watched.pop(number, None)

    def _look(self) -> None:
        while True:
            time.sleep(LOOK_EVERY)
            with self._lock:
                now = time.monotonic()
                over = [each for until, each in self._watched.values() if until < now]
                if not self._watched:
                    self._running = False
                    return
            for connection in over:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


_WATCH = _Watch()


@contextmanager
def cut_at(connection: socket.socket, until: float) -> Iterator[None]:
    """Cut the connection when `time.monotonic()` reaches `until`."""
    number = _WATCH.add(connection, until)
    try:
        yield
    finally:
        _WATCH.remove(number)
