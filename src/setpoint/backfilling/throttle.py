"""Room for jobs: pools and source connections, with limits that all processes share."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.ledger.backfill import BackfillRecords
    from setpoint.model.settings import ConnectionSettings, Settings
    from setpoint.model.task import Task

MINUTE = 60.0
PAUSE_SECONDS = 0.2


class Throttle:
    """Admits jobs while there is room in their pool and on the connections that they read."""

    pause = PAUSE_SECONDS

    def __init__(
        self,
        records: BackfillRecords,
        settings: Settings,
        *,
        pool: str | None,
        holder: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._records = records
        self._settings = settings
        self._pool = pool
        self._holder = holder
        self._clock = clock
        self._taken: dict[str, list[int]] = {}
        self._begun: dict[str, deque[float]] = {}

    def admit(self, task: Task) -> bool:
        """Take room for a job of the task; False when there is none right now."""
        if not all(self._in_time(name, most) for name, most in self._rates(task)):
            return False
        got: list[tuple[str, int]] = []
        for name, limit in self._limits(task):
            slot = self._records.take_slot(name, limit, self._holder)
            if slot is None:
                for each, number in got:
                    self._records.free_slot(each, number, self._holder)
                return False
            got.append((name, slot))
        for name, slot in got:
            self._taken.setdefault(name, []).append(slot)
        for name, _ in self._rates(task):
            self._begun.setdefault(name, deque()).append(self._clock())
        return True

    def release(self, task: Task) -> None:
        """Give a job's room back."""
        for name, _ in self._limits(task):
            self._records.free_slot(name, self._taken[name].pop(), self._holder)

    def keep(self) -> None:
        """Say that the holder of the room lives."""
        if any(self._taken.values()):
            self._records.keep_slots(self._holder)

    def close(self) -> None:
        """Give all room back."""
        for name, slots in self._taken.items():
            while slots:
                self._records.free_slot(name, slots.pop(), self._holder)

    def _limits(self, task: Task) -> list[tuple[str, int]]:
        found = []
        if self._pool is not None:
            found.append((f"pool {self._pool}", self._settings.pools[self._pool].limit))
        for name, connection in self._connections(task):
            if connection.max_active_runs is not None:
                found.append((f"connection {name}", connection.max_active_runs))
        return found

    def _rates(self, task: Task) -> list[tuple[str, int]]:
        return [
            (name, connection.runs_per_minute)
            for name, connection in self._connections(task)
            if connection.runs_per_minute is not None
        ]

    def _connections(self, task: Task) -> list[tuple[str, ConnectionSettings]]:
        names = dict.fromkeys(source.table.catalog for source in task.sources)
        known = self._settings.connections
        return [(name, known[name]) for name in names if name in known]

    def _in_time(self, name: str, most: int) -> bool:
        begun = self._begun.setdefault(name, deque())
        while begun and self._clock() - begun[0] >= MINUTE:
            begun.popleft()
        return len(begun) < most
