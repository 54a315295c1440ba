"""What may go and what must stay, decided from the ledger's records."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from setpoint.engine.spark.housekeeping import KeptSnapshot
from setpoint.ledger.record import Run
from setpoint.running.cleaning import expirable, is_dead, referred

NOW = datetime(2026, 4, 25, tzinfo=timezone.utc)


def run(fence: int, **changes: Any) -> Run:
    """A run of one window that wrote a snapshot and read another."""
    given: dict[str, Any] = {
        "run_id": f"r{fence}",
        "task": "orders",
        "window_start": NOW,
        "window_end": NOW + timedelta(days=1),
        "target": "lake.shop.orders",
        "fingerprint": "code",
        "state": "succeeded",
        "attempts": 1,
        "fence": fence,
        "started_at": NOW,
        "snapshot": f"w{fence}",
        "detail": {"inputs": {"lake.raw.orders": f"i{fence}"}},
        "pid": 1,
        "host": "here",
    }
    return Run(**(given | changes))


@pytest.mark.parametrize(
    ("run_id", "fence", "dead"),
    [("r3", 3, True), ("r4", 4, False), ("r4", 2, True), ("unknown", 1, False)],
    ids=["its run ended", "its run is open", "its run went on", "not of this ledger"],
)
def test_an_attempt_is_over_only_when_the_ledger_says_so(
    run_id: str, fence: int, *, dead: bool
) -> None:
    """Who is not known may be another project's, and is left alone."""
    assert is_dead(run_id, fence, [run(3), run(4, state="running")]) is dead


def test_the_snapshots_of_kept_runs_stay_for_replays() -> None:
    """What the last runs of each window wrote and read; failed runs refer to nothing."""
    runs = [run(1), run(2), run(3, state="failed"), run(4, window_start=None, window_end=None)]
    assert referred(runs, 1) == {"w2", "i2", "w4", "i4"}
    assert referred(runs, 2) == {"w1", "i1", "w2", "i2", "w4", "i4"}


def test_what_is_named_kept_or_young_does_not_expire() -> None:
    """The current snapshot, tags, those of kept runs, and what readers may still be at."""

    def snapshot(name: str, *, age: int, named: bool = False) -> KeptSnapshot:
        return KeptSnapshot(id=name, at=NOW - timedelta(days=age), run_id=None, named=named)

    found = [
        snapshot("old", age=9),
        snapshot("kept", age=9),
        snapshot("tagged", age=9, named=True),
        snapshot("young", age=1),
    ]
    gone = expirable(found, kept={"kept"}, before=NOW - timedelta(days=7))
    assert [each.id for each in gone] == ["old"]
