"""Killed anywhere, then run again: as if nothing had happened (`make crash` does the same)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from tests.crash.failpoints import failpoints
from tests.crash.matrix import Case, Matrix, carried_out, covering
from tests.crash.scene import COMBINATIONS

if TYPE_CHECKING:
    from tests.crash.scene import Scene

pytestmark = pytest.mark.process


def test_scenarios_1_to_5_and_7_a_kill_at_any_failpoint_leaves_no_trace(scene: Scene) -> None:
    """A2: rows and neighbours of a clean run, ledger and table agree, nothing left behind."""
    tally = carried_out(scene, full=False, say=print)
    assert tally.wrong == []
    assert sorted(set(failpoints()) - tally.points) == [], "failpoints that nothing exercises"
    assert {case.combination for case in tally.cases} == set(COMBINATIONS)
    assert any(case.again for case in tally.cases)


def test_the_part_for_ci_touches_every_failpoint_once() -> None:
    """Each failpoint in one combination, the combinations used evenly."""
    first, second = COMBINATIONS[:2]
    cases = [Case(combination=each, point=point) for point in "abcd" for each in (first, second)]
    chosen = covering(cases)
    assert sorted(case.point for case in chosen) == list("abcd")
    assert sum(case.combination == first for case in chosen) == 2


def test_a_second_death_follows_the_first_that_left_the_most_behind() -> None:
    """Of the deaths that one way recovers from, the last; one of a failing run only if alone."""
    first = COMBINATIONS[0]
    matrix = Matrix(cast("Scene", None), print)
    matrix.tally.recoveries = {
        Case(combination=first, point="a"): ("x", "y"),
        Case(combination=first, point="b"): ("x", "y"),
        Case(combination=first, point="c"): ("z",),
        Case(combination=first, point="d", failing=True): ("x", "y"),
    }
    assert [(case.point, case.again) for case in matrix.pairs()] == [
        ("b", "x"),
        ("b", "y"),
        ("c", "z"),
    ]
