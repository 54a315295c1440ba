"""Which commits came late, decided from a table's history alone."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.engine.commit_mark import (
    WHOLE,
    CommitMark,
    adoptable,
    late_commits,
    scope_name,
)
from setpoint.model.grain import Grain, parse_instant

DAY = Grain.parse("day")


def scope(day: int, days: int = 1) -> str:
    """The name of a window of days in April."""
    window = DAY.window_at(parse_instant(f"2026-04-{day:02}"))
    end = window.end + timedelta(days=days - 1)
    return scope_name(window).partition("/")[0] + "/" + end.isoformat()


def mark(place: int, fence: int, base: int, name: str = scope(25)) -> CommitMark:
    """A commit at a place of the history."""
    return CommitMark(
        place=place,
        base=base,
        run_id=f"r{fence}",
        fence=fence,
        scope=name,
        at=datetime(2026, 4, 26, 3, place, tzinfo=timezone.utc),
        snapshot=str(place),
    )


def test_a_commit_that_began_before_a_newer_one_and_follows_it_is_late() -> None:
    """What, when and which run are told."""
    (late,) = late_commits([mark(1, 5, base=0), mark(2, 4, base=0)])
    assert (late.commit.run_id, late.over.run_id) == ("r4", "r5")
    assert late.words == (
        "run r4 (fence 4) committed late, at 2026-04-26T03:02:00Z, over run r5 (fence 5), which "
        "had taken the window 2026-04-25T00:00:00Z/2026-04-26T00:00:00Z over"
    )


@pytest.mark.parametrize(
    "marks",
    [
        [mark(1, 4, base=0), mark(2, 5, base=0)],
        [mark(1, 5, base=0), mark(2, 4, base=0, name=scope(26))],
        [mark(1, 57, base=0), mark(2, 3, base=1)],
        [mark(1, 5, base=0), mark(2, 4, base=0), mark(3, 6, base=2)],
        [mark(1, 5, base=0), mark(2, 4, base=0), mark(3, 6, base=2, name=WHOLE)],
    ],
    ids=["in order", "another window", "a ledger begun anew", "set again", "replaced whole"],
)
def test_what_is_not_late(marks: list[CommitMark]) -> None:
    """Order, other windows, a new ledger's low fences, and what was repaired since."""
    assert late_commits(marks) == []


def test_a_batch_and_one_of_its_windows_exclude_each_other() -> None:
    """A late batch over a window; a window alone repairs only itself."""
    late_batch = [mark(1, 5, base=0), mark(2, 4, base=0, name=scope(24, days=3))]
    assert len(late_commits(late_batch)) == 1
    assert len(late_commits([*late_batch, mark(3, 6, base=2)])) == 1
    assert late_commits([*late_batch, mark(3, 6, base=2, name=scope(24, days=3))]) == []


def test_a_base_that_is_no_longer_kept_came_before_all_that_is() -> None:
    """Snapshots expire from the oldest on."""
    assert len(late_commits([mark(1, 5, base=0), mark(2, 4, base=-1)])) == 1


def test_a_commit_is_adopted_only_while_its_rows_stand() -> None:
    """Neither a late commit nor one that a late commit lies over is taken for done."""
    newer, late = mark(1, 5, base=0), mark(2, 4, base=0)
    assert adoptable(newer, [newer])
    assert not adoptable(newer, [newer, late])
    assert not adoptable(late, [newer, late])
    assert adoptable(newer, [newer, mark(2, 4, base=0, name=scope(26))])


@given(st.permutations(range(1, 7)))
def test_runs_that_wait_for_each_other_are_never_late(fences: list[int]) -> None:
    """Each starts from the one before: whatever the fences, nobody was overtaken."""
    assert late_commits([mark(n, fence, base=n - 1) for n, fence in enumerate(fences, 1)]) == []


@given(st.permutations(range(1, 7)))
def test_of_rivals_the_highest_fence_is_last_or_told(fences: list[int]) -> None:
    """All began at once: unless the newest fence committed last, somebody was late."""
    found = late_commits([mark(n, fence, base=0) for n, fence in enumerate(fences, 1)])
    assert bool(found) == (fences[-1] != max(fences))
