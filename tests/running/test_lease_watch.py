"""When a waiter may take over: by what it saw itself, never by another machine's clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

from setpoint.ledger.lease import Lease
from setpoint.running.lease_watch import Watch

SILENT = Lease(
    fence=7,
    task="orders",
    window_start=None,
    window_end=None,
    target="lake.shop.orders",
    pid=1,
    host="there",
    machine="m",
    born="1",
    beat=3,
    seconds=10.0,
    taken_at=datetime(2026, 4, 1, tzinfo=timezone.utc),
)


def watch(*, gone: bool = False) -> Watch:
    """A waiter that knows of each holder whether it is gone."""
    return Watch(is_gone=lambda _: gone)


def looks(watching: Watch, lease: Lease, moments: range) -> list[bool]:
    """Whether the lease may be taken at each moment."""
    return [watching.ended([lease], float(now)) == (lease,) for now in moments]


def test_a_dead_holder_is_taken_over_at_once() -> None:
    """There is nothing to wait for."""
    assert looks(watch(gone=True), SILENT, range(1)) == [True]


def test_a_silent_holder_is_taken_over_after_its_whole_term() -> None:
    """Ten seconds of watching, from the first look on, not from when the lease was taken."""
    assert looks(watch(), SILENT, range(100, 112)) == [False] * 10 + [True] * 2


def test_each_beat_begins_the_term_anew() -> None:
    """A slow holder is a live one."""
    watching = watch()
    for beat in range(5):
        beaten = replace(SILENT, beat=beat)
        moments = range(beat * 9, beat * 9 + 9)
        assert looks(watching, beaten, moments) == [False] * 9


def test_the_holders_term_counts_not_the_waiters() -> None:
    """Each lease carries what its holder promised."""
    watching = watch()
    quick, slow = replace(SILENT, seconds=1.0), replace(SILENT, fence=8, seconds=50.0)
    watching.ended([quick, slow], 0.0)
    assert watching.ended([quick, slow], 1.0) == (quick,)


def test_a_waiter_that_was_stopped_has_not_watched() -> None:
    """Both stopped for an hour, as a machine that sleeps: the holder gets its turn to beat."""
    watching = watch()
    assert looks(watching, SILENT, range(2)) == [False, False]
    assert watching.ended([SILENT], 3600.0) == ()
    assert watching.ended([replace(SILENT, beat=4)], 3600.2) == ()


def test_a_clock_that_goes_backwards_takes_nothing_over() -> None:
    """Less time went by, never more."""
    watching = watch()
    watching.ended([SILENT], 100.0)
    assert watching.ended([SILENT], 1.0) == ()
    assert looks(watching, SILENT, range(2, 11)) == [False] * 9
