"""What leases, tokens and reconciliation add to a warm run, and what they cost after a crash.

A warm run takes a lease, records itself, and looks into the table's history once, after its commit:
for its own commit and for late ones. It looks for no other commit: there is no dead attempt. The
parts are timed inside real runs; their sum is what the promise is about. The catalog is the
embedded one; what the look costs where Spark must be asked is measured beside it.
"""

from __future__ import annotations

import os
import tempfile
import time
import timeit
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from bench.measuring import Measure, measures

from setpoint.engine.spark.engine import SparkEngine
from setpoint.engine.spark.iceberg import IcebergTarget
from setpoint.engine.spark.reconciliation import repaired
from setpoint.failpoint import VARIABLE, failpoint
from setpoint.ledger.opening import open_ledger
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project
from setpoint.running.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.ledger.protocol import Ledger
    from setpoint.model.plan import Plan

SETTINGS = '[project]\nname = "bench"\n'
TASK = """
from setpoint import overwrite, task

@task(target="lake.bench.one", grain="day", write=overwrite(by="day"))
def one(spark, window):
    return spark.sql(f"SELECT 1 AS id, DATE '{window.ds}' AS day")
"""
HISTORY = 30
"""Commits that the table has before anything is timed."""
PASSES = 1_000_000
WHOLE = "a warm run of one row, all of it"
RECORDS = "of it: lease and records on SQLite"
LOOK = "of it: the look into the history after the commit"
SUM = "warm run: leases, tokens and reconciliation"
ASKED = "of it, where the catalog is not embedded: the look, by Spark"
CRASH = f"after a crash: a dead attempt's commit, looked for among {HISTORY}"


class Stopwatch:
    """Adds up the time that calls take, wherever they are called from."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The call, with its time added."""

        def calling(*given: Any, **options: Any) -> Any:
            begun = time.perf_counter()
            try:
                return call(*given, **options)
            finally:
                self.seconds += time.perf_counter() - begun

        return calling

    def read(self) -> float:
        """The time so far; from here on it counts anew."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds


def measure_leases(runs: int) -> list[Measure]:
    """The parts of the overhead of a warm run, their sum, and the look after a crash."""
    print(f"a failpoint that is off: {failpoint_nanoseconds():.0f} ns")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "setpoint.toml").write_text(SETTINGS)
        (root / "pipelines").mkdir()
        (root / "pipelines" / "one.py").write_text(TASK)
        project = load_project(root)
        engine = SparkEngine(project.settings, say=print)
        plan = make_plan(project.graph, select=(), dates=Dates(ds="2026-04-25"))
        with open_ledger("sqlite:///ledger.db", root=root, create=True) as ledger:
            return _measured(plan, engine, ledger, runs)


def failpoint_nanoseconds() -> float:
    """What one failpoint costs in a process whose environment does not name any."""
    assert VARIABLE not in os.environ
    times = timeit.repeat(lambda: failpoint("bench"), number=PASSES, repeat=5)
    nothing = timeit.repeat(lambda: None, number=PASSES, repeat=5)
    return (min(times) - min(nothing)) / PASSES * 1e9


def _measured(plan: Plan, engine: SparkEngine, ledger: Ledger, runs: int) -> list[Measure]:
    (step,) = plan.steps
    writing, looking = Stopwatch(), Stopwatch()
    asked_for = IcebergTarget(engine.spark, step.task.target)
    names = (WHOLE, RECORDS, LOOK, SUM, CRASH, ASKED)
    times: dict[str, list[float]] = {name: [] for name in names}
    runner = Runner(engine=engine, ledger=ledger)
    with (
        mock.patch.object(engine, "carry_out", writing.timed(engine.carry_out)),
        mock.patch.object(IcebergTarget, "commit", looking.timed(IcebergTarget.commit)),
        mock.patch("setpoint.engine.spark.engine.repaired", looking.timed(repaired)),
    ):
        for number in range(HISTORY + runs):
            begun = time.perf_counter()
            (result,) = runner.run(plan)
            whole = time.perf_counter() - begun
            if result.error:
                raise result.error
            records, look = whole - writing.read(), looking.read()
            begun = time.perf_counter()
            found = engine.find_commit(step.task, result.run_id or "")
            crash = time.perf_counter() - begun
            looking.read()
            assert found is not None
            asked_for.commit(result.run_id or "")
            asked = looking.read()
            if number >= HISTORY:
                took = (whole, records, look, records + look, crash, asked)
                for times_of, seconds in zip(times.values(), took, strict=True):
                    times_of.append(seconds)
    return measures(times, base=WHOLE, limits={SUM: "≤ 0.050 s"})
