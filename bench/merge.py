"""A merge against the bare `MERGE INTO` of a batch that is already one row a key."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measuring import Measure, interleaved, measures

from setpoint.engine.protocol import Token
from setpoint.engine.spark.engine import SparkEngine
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from collections.abc import Callable

DAY, TABLE, BATCH = "2026-04-25", 1_000_000, 100_000
SETTINGS = '[project]\nname = "bench"\n'
TASK = """
from setpoint import Source, merge, task

@task(target="lake.bench.customers", grain="day", write=merge(on="customer_id", version="seq"),
      sources={"changes": Source("lake.source.changes", event_time="changed_at")})
def customers(changes):
    return changes
"""
ROW = """
       concat('customer ', customer_id) AS name,
       concat('street ', pmod(customer_id, 977)) AS street,
       CAST(pmod(xxhash64(customer_id, seq), 1000000) / 100 AS DECIMAL(10,2)) AS credit,
       timestampadd(SECOND, pmod(xxhash64(customer_id), 86400), TIMESTAMP '2026-04-25 00:00:00Z')
         AS changed_at
"""
CUSTOMERS = f"SELECT id AS customer_id, 0L AS seq, {ROW} FROM range({TABLE}) AS t(id)"
# Nine of ten changes are to customers who are there, one of ten is a new one.
CHANGES = f"""
SELECT customer_id, seq, {ROW} FROM (
  SELECT id * 9 + 100000 AS customer_id, 1L AS seq FROM range({BATCH}) AS t(id))
"""
MERGE = """
MERGE INTO {table} AS t USING (
  SELECT * FROM lake.source.changes
  WHERE changed_at >= TIMESTAMP '2026-04-25 00:00:00Z'
    AND changed_at < TIMESTAMP '2026-04-26 00:00:00Z') AS s
ON t.customer_id = s.customer_id
WHEN MATCHED AND s.seq > t.seq THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
"""


def measure_merge(runs: int) -> list[Measure]:
    """100,000 changes into a table of 1,000,000 rows, put back between the rounds."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "setpoint.toml").write_text(SETTINGS)
        (root / "pipelines").mkdir()
        (root / "pipelines" / "tasks.py").write_text(TASK)
        engine = SparkEngine(load_project(root).settings, say=print)
        spark = engine.spark
        for space in ("source", "bench"):
            spark.sql(f"CREATE NAMESPACE lake.{space}")
        spark.sql(f"CREATE TABLE lake.source.changes USING iceberg AS {CHANGES}")
        contenders = _contenders(engine, root)
        times = interleaved(contenders, runs=runs, warm=2)
        bare, safe = contenders
        return measures(times, base=bare, limits={safe: "≤ 1.2"})


def _contenders(engine: SparkEngine, root: Path) -> dict[str, Callable[[], object]]:
    spark = engine.spark
    step = make_plan(load_project(root).graph, select=(), dates=Dates(ds=DAY)).steps[0]
    fences = iter(range(1, 10_000))
    bases: dict[str, int] = {}

    def put_back(table: str) -> None:
        """The table as before the merge: a change of its metadata, some milliseconds for each."""
        name = table.removeprefix("lake.")
        spark.sql(f"CALL lake.system.set_current_snapshot('{name}', {bases[table]})")

    def remember(table: str) -> None:
        current = spark.sql(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at DESC")
        bases[table] = current.first()["snapshot_id"]  # type: ignore[index]

    def bare() -> None:
        put_back("lake.bench.bare")
        spark.sql(MERGE.format(table="lake.bench.bare")).collect()

    def safe() -> object:
        put_back("lake.bench.customers")
        fence = next(fences)
        return engine.carry_out(step.task, step.window, Token(run_id=f"run-{fence}", fence=fence))

    spark.sql(f"CREATE TABLE lake.bench.bare USING iceberg AS {CUSTOMERS} LIMIT 0")
    engine.carry_out(step.task, step.window, Token(run_id="first", fence=0))
    spark.sql("DELETE FROM lake.bench.customers")
    for table in ("lake.bench.bare", "lake.bench.customers"):
        spark.sql(f"INSERT INTO {table} {CUSTOMERS}")
    # The table as it is night after night: written by merges, so that it need not be searched.
    quiet = make_plan(load_project(root).graph, select=(), dates=Dates(ds="2026-04-20")).steps[0]
    engine.carry_out(quiet.task, quiet.window, Token(run_id="second", fence=0))
    for table in ("lake.bench.bare", "lake.bench.customers"):
        remember(table)
    name = f"{BATCH:,} rows into {TABLE:,}"
    return {f"{name}: bare MERGE INTO": bare, f"{name}: merge": safe}
