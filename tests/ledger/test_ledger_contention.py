"""Many real processes on one ledger's file."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from setpoint.errors import StaleFence
from setpoint.ledger.opening import open_ledger

if TYPE_CHECKING:
    from pathlib import Path

    from setpoint.ledger.protocol import Ledger
    from setpoint.ledger.record import Started

PROCESSES = 8
RUNS = 125
FIRST_HOUR = datetime(2026, 4, 1, tzinfo=timezone.utc)


def begin_hour(ledger: Ledger, task: str, number: int) -> Started:
    """Begin a task on an hour."""
    start = FIRST_HOUR + timedelta(hours=number)
    return ledger.begin(
        task,
        start,
        start + timedelta(hours=1),
        target="lake.t",
        fingerprint="f",
        pid=os.getpid(),
        host="h",
    )


def run_own_windows(root: Path, worker: int) -> list[int]:
    """Run every hour of a task of this process's own; opens a file that may not be there yet."""
    fences = []
    with open_ledger("sqlite:///ledger.db", root=root, create=True) as ledger:
        for number in range(RUNS):
            started = begin_hour(ledger, f"task_{worker}", number)
            ledger.succeed(started.run_id, started.fence, rows=number)
            fences.append(started.fence)
    return fences


def run_shared_window(root: Path, worker: int) -> Counter[str]:
    """Take one window over from the other processes, again and again."""
    ends: Counter[str] = Counter()
    with open_ledger("sqlite:///ledger.db", root=root, create=True) as ledger:
        for _ in range(RUNS // 5):
            started = begin_hour(ledger, "shared", 0)
            try:
                ledger.succeed(started.run_id, started.fence, rows=worker)
            except StaleFence:
                ends["taken over"] += 1
            else:
                ends["succeeded"] += 1
    return ends


@pytest.fixture
def pool() -> ProcessPoolExecutor:
    """Fresh processes, not forks of this one."""
    return ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.process
def test_scenario_22_a_thousand_runs_from_eight_processes_lose_nothing(
    tmp_path: Path, pool: ProcessPoolExecutor
) -> None:
    """Every run is recorded, every fence is given once, and nobody hears of a locked file."""
    with pool:
        given = list(pool.map(run_own_windows, [tmp_path] * PROCESSES, range(PROCESSES)))
    for fences in given:
        assert fences == sorted(fences)
    everything = sorted(fence for fences in given for fence in fences)
    assert everything == list(range(1, PROCESSES * RUNS + 1))
    with open_ledger("sqlite:///ledger.db", root=tmp_path, create=False) as ledger:
        runs = ledger.runs(limit=None)
        assert sorted(run.fence for run in runs) == everything
        assert {run.state for run in runs} == {"succeeded"}
        for task in ledger.summary():
            assert (task.succeeded, task.rows) == (RUNS, sum(range(RUNS)))


@pytest.mark.process
def test_scenario_22_eight_processes_on_one_window_each_win_or_are_told(
    tmp_path: Path, pool: ProcessPoolExecutor
) -> None:
    """Each attempt either succeeds or learns that it was taken over; the ledger agrees."""
    with pool:
        ends = sum(
            pool.map(run_shared_window, [tmp_path] * PROCESSES, range(PROCESSES)), Counter[str]()
        )
    assert ends.total() == PROCESSES * (RUNS // 5)
    with open_ledger("sqlite:///ledger.db", root=tmp_path, create=False) as ledger:
        runs = ledger.runs(limit=None)
        states = Counter(each.state for run in runs for each in ledger.attempts(run.run_id))
        assert len(ledger.latest()) == 1
    assert states["succeeded"] == ends["succeeded"]
    assert states["lost"] == ends["taken over"]
    assert {run.state for run in runs} == {"succeeded"}
