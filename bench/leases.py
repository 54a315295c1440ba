"""What leases, records and the look for a dead attempt's commit add to a warm run."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.measuring import Measure, interleaved, measures

from setpoint.engine.protocol import Outcome
from setpoint.engine.spark.engine import SparkEngine
from setpoint.ledger.opening import open_ledger
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project
from setpoint.running.runner import Runner

if TYPE_CHECKING:
    from setpoint.engine.protocol import Token
    from setpoint.model.plan import Plan

SETTINGS = '[project]\nname = "bench"\n'
TASK = """
from setpoint import overwrite, task

@task(target="lake.bench.one", grain="day", write=overwrite(by="day"))
def one(spark, window):
    return spark.sql(f"SELECT 1 AS id, DATE '{window.ds}' AS day")
"""
HISTORY = 30
"""Commits that the table has when a dead attempt's one is looked for."""


class Nothing:
    """An engine whose every write is done at once: what is left is the runner and the ledger."""

    def carry_out(self, *_: Any, **__: Any) -> Outcome:
        """Done."""
        return Outcome(rows=0, snapshot="1")

    def find_commit(self, *_: Any, **__: Any) -> Outcome | None:
        """None is there."""
        return None

    def rows(self, *_: Any, **__: Any) -> list[dict[str, Any]]:
        """Never asked for."""
        raise NotImplementedError

    def cancel(self, token: Token) -> None:
        """Nothing to stop."""

    def highest_fence(self, *_: Any) -> int:
        """None."""
        return 0

    def checksum(self, *_: Any) -> str:
        """Never asked for."""
        raise NotImplementedError

    def analyse(self, *_: Any) -> Any:
        """Never asked for."""
        raise NotImplementedError


def measure_leases(runs: int) -> list[Measure]:
    """The parts of the overhead, each alone; their sum is what a warm run pays at most."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "setpoint.toml").write_text(SETTINGS)
        (root / "pipelines").mkdir()
        (root / "pipelines" / "one.py").write_text(TASK)
        project = load_project(root)
        engine = SparkEngine(project.settings, say=print)
        plan = make_plan(project.graph, select=(), dates=Dates(ds="2026-04-25"))
        with open_ledger("sqlite:///ledger.db", root=root, create=True) as ledger:
            real = Runner(engine=engine, ledger=ledger)
            for _ in range(HISTORY):
                (result,) = real.run(plan)
                if result.error:
                    raise result.error
            return _measured(plan, engine, Runner(engine=Nothing(), ledger=ledger), runs)


def _measured(plan: Plan, engine: SparkEngine, empty: Runner, runs: int) -> list[Measure]:
    (step,) = plan.steps
    (result,) = empty.run(plan)
    lookup = f"a dead attempt's commit, looked for among {HISTORY}"
    contenders = {
        "lease and records of a run on SQLite": lambda: empty.run(plan),
        lookup: lambda: engine.find_commit(step.task, result.run_id or ""),
    }
    times = interleaved(contenders, runs=runs, warm=3)
    summed = [sum(parts) for parts in zip(*times.values(), strict=True)]
    total = "both: leases, records and reconciliation"
    return measures(
        {**times, total: summed}, base=next(iter(contenders)), limits={total: "≤ 0.050 s"}
    )
