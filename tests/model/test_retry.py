"""Waits between attempts grow, stay within their limit, and are spread by chance."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.model.retry import Backoff, Retry

BACKOFFS = st.builds(
    Backoff,
    first=st.floats(0, 60),
    factor=st.floats(1, 10),
    longest=st.floats(0, 3600),
    jitter=st.floats(0, 1),
)


@given(BACKOFFS, st.integers(1, 10_000), st.integers())
def test_a_wait_is_never_negative_and_never_above_the_longest(
    backoff: Backoff, failures: int, seed: int
) -> None:
    """However often a run failed, the wait stays between nothing and `longest`."""
    assert 0 <= backoff.delay(failures, Random(seed)) <= backoff.longest


@given(BACKOFFS, st.integers(1, 500))
def test_waits_grow_until_they_reach_the_longest(backoff: Backoff, failures: int) -> None:
    """With the same luck a later wait is no shorter than the one before."""
    sooner, later = (backoff.delay(n, Random(1)) for n in (failures, failures + 1))
    assert sooner <= later


def test_without_jitter_each_wait_is_the_factor_times_the_last() -> None:
    """1, 2, 4, 8 seconds, and then no more than the longest."""
    backoff = Backoff(first=1, factor=2, longest=5, jitter=0)
    assert [backoff.delay(n, Random()) for n in (1, 2, 3, 4, 5)] == [1, 2, 4, 5, 5]


@given(st.integers())
def test_jitter_takes_away_at_most_its_share(seed: int) -> None:
    """Half of the wait is certain when the jitter is a half."""
    assert 5 <= Backoff(first=10, jitter=0.5).delay(1, Random(seed)) <= 10


def test_jitter_spreads_runs_that_failed_together() -> None:
    """Many runs that fail at once do not come back at once."""
    waits = {Backoff().delay(1, Random(seed)) for seed in range(50)}
    assert len(waits) == 50


def test_a_wait_after_very_many_failures_is_the_longest() -> None:
    """The growth that no float can hold ends at the limit instead of in an error."""
    assert Backoff(jitter=0).delay(100_000, Random()) == 300


@pytest.mark.parametrize(
    ("failures", "transient", "expected"),
    [(1, True, True), (2, True, True), (3, True, False), (1, False, False)],
)
def test_only_transient_faults_within_the_count_are_tried_again(
    failures: int, transient: bool, expected: bool
) -> None:
    """Two retries make three attempts; a permanent fault gets one."""
    assert Retry(retries=2).another(failures=failures, transient=transient) is expected


def test_without_retries_the_first_failure_is_the_last() -> None:
    """A task that says nothing is not tried again."""
    assert not Retry().another(failures=1, transient=True)
