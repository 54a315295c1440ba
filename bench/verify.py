"""All checks of a verification against one run of the same task, warm, in one process."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.measuring import Measure, interleaved, measures

from setpoint.ledger.opening import open_ledger
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project
from setpoint.running.runner import Runner
from setpoint.verifying.check import chosen_checks
from setpoint.verifying.project_verification import keep, trial_engine, verify_task

DAY, ROWS = "2026-04-25", 100_000
TASK = """
from pyspark.sql import functions as F
from setpoint import Source, overwrite, task

@task(target="lake.bench.orders", grain="day", write=overwrite(by="order_date"),
      unique_key="order_id",
      sources={"orders": Source("lake.source.orders", event_time="ordered_at")})
def orders(orders):
    return orders.withColumn("order_date", F.to_date("ordered_at"))
"""
# The day, the day before it and the same day a month ago, each with as many rows.
SOURCE = f"""
CREATE TABLE lake.source.orders USING iceberg AS
SELECT id AS order_id, pmod(xxhash64(id, 1), 5000) AS customer_id,
       CAST(pmod(xxhash64(id, 2), 1000000) / 100 AS DECIMAL(10,2)) AS amount,
       timestampadd(SECOND, pmod(xxhash64(id, 4), 86400), CAST(date_add(DATE '{DAY}',
         -element_at(array(30, 1, 0), CAST(id DIV {ROWS} + 1 AS INT))) AS TIMESTAMP)) AS ordered_at
FROM range({3 * ROWS})
"""


def measure_verify(runs: int) -> list[Measure]:
    """One run, and all checks on copies."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "setpoint.toml").write_text('[project]\nname = "bench"\n')
        (root / "pipelines").mkdir()
        (root / "pipelines" / "orders.py").write_text(TASK)
        project = load_project(root)
        engine = trial_engine(project.settings, say=lambda _text: None)
        engine.spark.sql("CREATE NAMESPACE lake.source")
        engine.spark.sql(SOURCE)
        task = project.graph.task("orders")
        plan = make_plan(project.graph, select=["orders"], dates=Dates(ds=DAY))

        settings = project.settings
        # As `setpoint run` and `setpoint verify` do it once Spark is up, with the ledger on disk.
        with open_ledger(settings.ledger_url, root=root, create=True) as ledger:

            def one_run() -> None:
                seconds = settings.lease_seconds
                runner = Runner(
                    engine=engine, ledger=ledger, effects="usual", lease_seconds=seconds
                )
                (result,) = runner.run(plan)
                assert result.error is None

            def every_check() -> None:
                checks = chosen_checks((), command=False)
                verdict = verify_task(project, task, engine=engine, ds=DAY, checks=checks)
                keep(ledger, verdict, checks)
                assert verdict.idempotent, verdict.failures

            times = interleaved(
                {"one run": one_run, "verify, all checks": every_check},
                runs=max(3, runs // 3),
                warm=1,
            )
    return measures(times, base="one run", limits={"verify, all checks": "15 x one run"})
