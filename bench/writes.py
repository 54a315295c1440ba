"""A safe write against a bare append of the same rows, warm, in one process."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measuring import Measure, interleaved, measures

from setpoint.engine.protocol import Token
from setpoint.engine.spark.engine import SparkEngine
from setpoint.engine.spark.gating import gated
from setpoint.engine.spark.inspection import plan_text
from setpoint.engine.spark.plan_text import grouped_by
from setpoint.engine.spark.target import Writing, open_target
from setpoint.ledger.opening import open_ledger
from setpoint.model.plan import Dates, make_plan
from setpoint.model.scope import ColumnKind, owned_scope
from setpoint.project.project import load_project
from setpoint.running.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.model.plan import Step
    from setpoint.project.project import Project

DAY, AFTER, ROWS = "2026-04-25", "2026-04-26", 250_000
SETTINGS = '[project]\nname = "bench"\n'
TASKS = """
from pyspark.sql import functions as F
from setpoint import Source, overwrite, task

raw_orders = {"orders": Source("lake.source.orders", event_time="ordered_at")}

@task(target="lake.bench.copied", grain="day", write=overwrite(by="order_date"),
      unique_key="order_id", sources=raw_orders)
def copied(orders):
    return orders

@task(target="lake.bench.summed", grain="day", write=overwrite(by="order_date"),
      unique_key=["order_date", "customer_id"], sources=raw_orders)
def summed(orders):
    return orders.groupBy("order_date", "customer_id").agg(
        F.count("*").alias("orders"), F.sum("amount").alias("revenue"))
"""
SOURCE = f"""
CREATE TABLE lake.source.orders USING iceberg PARTITIONED BY (order_date) AS
SELECT id AS order_id, pmod(xxhash64(id, 1), 5000) AS customer_id,
       CAST(pmod(xxhash64(id, 2), 1000000) / 100 AS DECIMAL(10,2)) AS amount,
       element_at(array('new','paid','sent','back'), CAST(pmod(xxhash64(id, 3), 4) + 1 AS INT))
         AS status,
       timestampadd(SECOND, pmod(xxhash64(id, 4), 86400), CAST(day AS TIMESTAMP)) AS ordered_at,
       day AS order_date
FROM (SELECT id, date_add(DATE '{DAY}', CAST(id DIV {ROWS} AS INT) - 1) AS day
      FROM range({3 * ROWS}))
"""


def measure_writes(runs: int) -> list[Measure]:
    """Raw rows and an aggregate: bare append, the safe write, and a whole recorded run."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "setpoint.toml").write_text(SETTINGS)
        (root / "pipelines").mkdir()
        (root / "pipelines" / "tasks.py").write_text(TASKS)
        project = load_project(root)
        engine = SparkEngine(project.settings, say=print)
        engine.spark.sql("CREATE NAMESPACE lake.source")
        engine.spark.sql(SOURCE)
        results = []
        for name, limit in (("copied", "≤ 1.4"), ("summed", "≤ 1.15")):
            contenders = _contenders(engine, project, name)
            times = interleaved(contenders, runs=runs, warm=6)
            base = next(iter(contenders))
            safe = list(contenders)[1]
            results += measures(times, base=base, limits={safe: limit})
        return results


def _contenders(
    engine: SparkEngine, project: Project, name: str
) -> dict[str, Callable[[], object]]:
    plan = make_plan(project.graph, select=(name,), dates=Dates(ds=DAY))
    step: Step = plan.steps[-1]
    ledger = open_ledger("sqlite:///.setpoint/ledger.db", root=project.settings.root, create=True)
    runner = Runner(engine=engine, ledger=ledger)
    engine.carry_out(step.task, step.window, Token(run_id="first", fence=0))
    bare = f"lake.bench.{name}_bare"
    engine.spark.sql(
        f"CREATE TABLE {bare} USING iceberg PARTITIONED BY (order_date) AS "
        f"SELECT * FROM {step.task.target} WHERE false"
    )
    bounds = f"ordered_at >= TIMESTAMP '{DAY} 00:00:00Z' AND ordered_at < '{AFTER} 00:00:00Z'"
    source = engine.spark.table("lake.source.orders").where(bounds)
    frame = step.task.transform.function(source)  # type: ignore[union-attr]
    scope = owned_scope(step.task, step.window, ColumnKind.DATE)
    target = open_target(engine.spark, project.settings, step.task.target)
    proven = grouped_by(plan_text(frame), step.task.unique_key)
    fences = iter(range(1, 100_000))

    def token() -> Token:
        fence = next(fences)
        return Token(run_id=f"run-{fence}", fence=fence)

    def safe() -> None:
        state = target.state()
        checked = gated(frame, step.task.gates, scope, unique=proven)
        target.write(
            Writing(task=step.task, frame=checked, scope=scope, token=token(), state=state)  # type: ignore[arg-type]
        )

    rows = f"{ROWS:,} raw rows" if name == "copied" else f"aggregate of {ROWS:,} by its key"
    return {
        f"{rows}: bare append": lambda: frame.writeTo(bare).append(),
        f"{rows}: safe overwrite, unique key": safe,
        f"{rows}: attempt (read, inspect, write, look up)": lambda: engine.carry_out(
            step.task, step.window, token()
        ),
        f"{rows}: whole run with ledger": lambda: runner.run(plan),
    }
