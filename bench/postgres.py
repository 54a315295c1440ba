"""Postgres: a safe replace against Spark's JDBC writer, and a source against its JDBC reader."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measuring import Measure, interleaved, measures
from tests.postgres_server import PostgresServer

from setpoint.engine.protocol import Token
from setpoint.engine.spark.engine import SparkEngine
from setpoint.engine.spark.postgres import copying
from setpoint.engine.spark.postgres.connection import Login
from setpoint.engine.spark.postgres.moment import Moments
from setpoint.engine.spark.target import open_source
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import DataFrame

    from setpoint.model.plan import Step
    from setpoint.model.settings import Settings

DAY, ROWS, PARTITIONS = "2026-04-25", 250_000, 4
SETTINGS = '[project]\nname = "bench"\n[connections.mart]\nurl = "{url}"\npassword = "${{PG}}"\n'
TASKS = """
from setpoint import Source, replace, overwrite, task

@task(target="mart.public.orders", grain="day", write=replace(by="order_date"),
      unique_key="order_id", sources={"orders": Source("lake.source.orders",
                                                       event_time="ordered_at")})
def replaced(orders):
    return orders

@task(target="mart.public.orders_by_workers", grain="day", write=replace(by="order_date"),
      unique_key="order_id", sources={"orders": Source("lake.source.orders",
                                                       event_time="ordered_at")})
def replaced_by_workers(orders):
    return orders

@task(target="lake.bench.back", grain="day", write=overwrite(by="order_date"),
      sources={"orders": Source("mart.public.orders", event_time="ordered_at")})
def back(orders):
    return orders
"""
SOURCE = f"""
CREATE TABLE lake.source.orders USING iceberg AS
SELECT id AS order_id, pmod(xxhash64(id, 1), 5000) AS customer_id,
       CAST(pmod(xxhash64(id, 2), 1000000) / 100 AS DECIMAL(10,2)) AS amount,
       element_at(array('new','paid','sent','back'), CAST(pmod(xxhash64(id, 3), 4) + 1 AS INT))
         AS status,
       timestampadd(SECOND, pmod(xxhash64(id, 4), 86400), TIMESTAMP '{DAY} 00:00:00Z')
         AS ordered_at,
       DATE '{DAY}' AS order_date
FROM range({ROWS})
"""


def measure_postgres(runs: int) -> list[Measure]:
    """Writing and reading a day of orders."""
    server = PostgresServer("fsync=on")
    os.environ["PG"] = server.password
    try:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "setpoint.toml").write_text(SETTINGS.format(url=server.url))
            (root / "pipelines").mkdir()
            (root / "pipelines" / "tasks.py").write_text(TASKS)
            project = load_project(root)
            engine = SparkEngine(project.settings, say=print)
            engine.spark.sql("CREATE NAMESPACE lake.source")
            engine.spark.sql(SOURCE)
            plan = make_plan(project.graph, select=(), dates=Dates(ds=DAY))
            steps = {step.task.name: step for step in plan.steps}
            return [
                *_writes(engine, project.settings, steps, server, runs),
                *_reads(engine, project.settings, steps["back"], runs),
            ]
    finally:
        server.close()


def _writes(
    engine: SparkEngine,
    settings: Settings,
    steps: Mapping[str, Step],
    server: PostgresServer,
    runs: int,
) -> list[Measure]:
    login = Login.of(settings.connections["mart"])
    fences = iter(range(1, 10_000))
    url = login.jdbc_url + "?reWriteBatchedInserts=true"
    properties = {**login.jdbc_properties, "batchsize": "10000"}

    def jdbc() -> None:
        # Not atomic: for a while the day is empty, and a failed task leaves half of it.
        server.run(f"DELETE FROM orders_jdbc WHERE order_date = '{DAY}'")
        frame = engine.spark.table("lake.source.orders")
        frame.write.jdbc(url, "orders_jdbc", mode="append", properties=properties)

    # A table for each: what a replace leaves for the server to clean up slows the next one down.
    def safe(name: str, small: int) -> Callable[[], object]:
        step = steps[name]

        def run() -> object:
            fence = next(fences)
            copying.SMALL_BYTES = small
            token = Token(run_id=f"run-{fence}", fence=fence)
            return engine.carry_out(step.task, step.window, token)

        return run

    safe("replaced", copying.SMALL_BYTES)()
    safe("replaced_by_workers", copying.SMALL_BYTES)()
    server.run("CREATE TABLE orders_jdbc (LIKE orders INCLUDING ALL)")
    base = f"{ROWS:,} rows to Postgres: JDBC writer, delete first"
    driver = f"{ROWS:,} rows to Postgres: replace, chosen way"
    contenders: dict[str, Callable[[], object]] = {
        base: jdbc,
        driver: safe("replaced", copying.SMALL_BYTES),
        f"{ROWS:,} rows to Postgres: replace from the workers": safe("replaced_by_workers", -1),
    }
    times = interleaved(contenders, runs=runs)
    for table in ("orders", "orders_by_workers", "orders_jdbc"):
        assert server.run(f"SELECT count(*) FROM {table}") == [(ROWS,)]
    return measures(times, base=base, limits={driver: "≤ 0.80"})


def _reads(engine: SparkEngine, settings: Settings, step: Step, runs: int) -> list[Measure]:
    login = Login.of(settings.connections["mart"])

    def jdbc() -> None:
        options = {
            **login.jdbc_properties,
            "partitionColumn": "ordered_at",
            "lowerBound": f"{DAY} 00:00:00",
            "upperBound": "2026-04-26 00:00:00",
            "numPartitions": str(PARTITIONS),
            "url": login.jdbc_url,
            "dbtable": "orders",
        }
        frame = engine.spark.read.format("jdbc").options(**options).load()
        bounds = f"ordered_at >= '{DAY} 00:00:00' AND ordered_at < '2026-04-26 00:00:00'"
        _drain(frame.where(bounds))

    def bounded() -> None:
        with Moments() as moments:
            source = step.task.sources[0]
            view, _ = open_source(engine.spark, settings, source, step.window, moments)
            _drain(engine.spark.table(view))

    base = f"{ROWS:,} rows from Postgres: JDBC reader, {PARTITIONS} ranges"
    ours = f"{ROWS:,} rows from Postgres: a bounded source"
    times = interleaved({base: jdbc, ours: bounded}, runs=runs)
    return measures(times, base=base, limits={ours: "≤ 1.0"})


def _drain(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()
