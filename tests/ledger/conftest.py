"""Each ledger, empty, with a clock that tests move, and short words for what they say often."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from setpoint.ledger.memory import MemoryLedger
from setpoint.ledger.postgres import PostgresLedger
from setpoint.ledger.record import Outcome
from setpoint.ledger.sqlite import SqliteLedger

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from setpoint.ledger.protocol import Ledger
    from setpoint.ledger.record import Run, Started


Window = tuple[datetime, datetime] | tuple[None, None]


class Clock:
    """A clock that goes a second further at each look, or wherever a test sets it."""

    def __init__(self) -> None:
        self.at = datetime(2026, 4, 26, 3, 0, tzinfo=timezone.utc)

    def __call__(self) -> datetime:
        """The next second."""
        self.at += timedelta(seconds=1)
        return self.at


@pytest.fixture
def clock() -> Clock:
    """The clock that the ledger under test reads."""
    return Clock()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Ledger]:
    """An empty ledger of each kind."""
    made: Ledger
    if request.param == "memory":
        made = MemoryLedger(now=clock)
    elif request.param == "sqlite":
        made = SqliteLedger(tmp_path / "ledger.db", now=clock)
    else:
        made = PostgresLedger(request.getfixturevalue("database"), now=clock)
    with made:
        yield made


class Scene:
    """Brings a ledger into the state that a test is about."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    @staticmethod
    def day(number: int) -> tuple[datetime, datetime]:
        """The window of a day of April 2026, from 1."""
        start = datetime(2026, 4, number, tzinfo=timezone.utc)
        return start, start + timedelta(days=1)

    def begin(
        self,
        window: Window | None = None,
        *,
        task: str = "orders",
        fingerprint: str = "code-1",
        pid: int = 100,
        run_id: str | None = None,
    ) -> Started:
        """Begin a task on a window; the first of April when none is given."""
        start, end = window or self.day(1)
        return self.ledger.begin(
            task,
            start,
            end,
            target=f"lake.shop.{task}",
            fingerprint=fingerprint,
            pid=pid,
            host="here",
            run_id=run_id,
        )

    def done(
        self,
        window: Window | None = None,
        *,
        task: str = "orders",
        rows: int = 10,
        run_id: str | None = None,
    ) -> Run:
        """A run that succeeded."""
        started = self.begin(window, task=task, run_id=run_id)
        return self.ledger.succeed(started.run_id, started.fence, rows=rows, seconds=1.0)

    def broken(self, window: Window | None = None, *, error: str = "boom") -> Run:
        """A run that failed."""
        started = self.begin(window)
        return self.ledger.fail(started.run_id, started.fence, error=error, error_kind="GateFailed")

    def outcome(self, number: int, *, rows: int = 10) -> Outcome:
        """A day that succeeded, to be recorded with others."""
        start, end = self.day(number)
        return Outcome(
            task="orders",
            window_start=start,
            window_end=end,
            target="lake.shop.orders",
            fingerprint="code-1",
            state="succeeded",
            rows=rows,
            seconds=0.5,
        )


@pytest.fixture
def scene(ledger: Ledger) -> Scene:
    """Short words on the ledger under test."""
    return Scene(ledger)
