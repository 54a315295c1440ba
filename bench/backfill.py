"""Sixty days of 100,000 orders again: one bare job, a loop, and `setpoint backfill`."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measuring import Measure, interleaved, measures
from pyspark.sql import functions as F

from setpoint.backfilling.preparing import prepare
from setpoint.backfilling.project_backfill import backfill_project
from setpoint.backfilling.request import Request
from setpoint.engine.spark.engine import SparkEngine
from setpoint.engine.spark.jars import ICEBERG, resolve_jars
from setpoint.engine.spark.session import catalog_conf
from setpoint.ledger.opening import open_ledger
from setpoint.ledger.record import Outcome as Recorded
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from setpoint.engine.protocol import Outcome, Token
    from setpoint.ledger.protocol import Ledger
    from setpoint.model.task import Task
    from setpoint.model.window import Window
    from setpoint.project.project import Project

FIRST, DAYS, PER_DAY, CUSTOMERS = date(2026, 1, 1), 60, 100_000, 5_000
SETTINGS = '[project]\nname = "bench"\n'
TASK = """
/*
target: lake.bench.revenue
grain: day
write: {overwrite: {by: ds}}
unique_key: [ds, customer_id]
sources:
  orders: {table: lake.source.orders, event_time: ds}
*/
SELECT ds, customer_id, count(*) AS orders, CAST(sum(amount) AS DECIMAL(20,2)) AS revenue
FROM orders GROUP BY ds, customer_id
"""
SOURCE = """
CREATE TABLE lake.source.orders USING iceberg PARTITIONED BY (ds) AS
SELECT id AS order_id, pmod(xxhash64(id, 1), {customers}) AS customer_id,
       CAST(pmod(xxhash64(id, 2), 1000000) / 100 AS DECIMAL(10,2)) AS amount,
       timestampadd(SECOND, pmod(xxhash64(id, 4), 86400), CAST(d AS TIMESTAMP)) AS event_ts, d AS ds
FROM (SELECT id, date_add(DATE '{first}', CAST(id DIV {per_day} AS INT)) AS d
      FROM range({rows}))
"""


BARE = """
from pyspark.sql import SparkSession, functions as F
conf = {conf!r} | {{"spark.master": "local[*]", "spark.ui.enabled": "false",
    "spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "4",
    "spark.driver.extraClassPath": {jars!r},
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"}}
spark = SparkSession.builder.config(map=conf).getOrCreate()
frame = spark.sql("SELECT ds, customer_id, count(*) AS orders, CAST(sum(amount) AS DECIMAL(20,2)) "
    "AS revenue FROM lake.source.orders WHERE ds BETWEEN DATE '{first}' AND DATE '{last}' "
    "GROUP BY ds, customer_id")
frame.writeTo("lake.bench.bare").overwrite(
    F.expr("ds BETWEEN DATE '{first}' AND DATE '{last}'"))
"""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One way over one size of range."""

    name: str
    days: int
    rows: int
    seconds: float


class Lake:
    """A project with a source of some days, and a bare table beside its task's."""

    def __init__(self, root: Path, *, days: int = DAYS, per_day: int = PER_DAY) -> None:
        self.days = days
        (root / "setpoint.toml").write_text(SETTINGS)
        (root / "pipelines").mkdir()
        (root / "pipelines" / "revenue.sql").write_text(TASK)
        self.project: Project = load_project(root)
        self.engine = SparkEngine(self.project.settings, say=print)
        spark = self.engine.spark
        spark.sql("CREATE NAMESPACE lake.source")
        spark.sql("CREATE NAMESPACE lake.bench")
        spark.sql(
            SOURCE.format(customers=CUSTOMERS, first=FIRST, per_day=per_day, rows=days * per_day)
        )
        for name in ("bare", "loop"):
            spark.sql(
                f"CREATE TABLE lake.bench.{name} (ds DATE, customer_id BIGINT, orders BIGINT, "
                "revenue DECIMAL(20,2)) USING iceberg PARTITIONED BY (ds)"
            )
        self.ledger: Ledger = open_ledger("sqlite:///.setpoint/ledger.db", root=root, create=True)

    def frame(self, first: date, last: date) -> DataFrame:
        """The aggregate of days `first` to `last`, both inside."""
        return self.engine.spark.sql(
            "SELECT ds, customer_id, count(*) AS orders, CAST(sum(amount) AS DECIMAL(20,2)) AS "
            f"revenue FROM lake.source.orders WHERE ds BETWEEN DATE '{first}' AND DATE '{last}' "
            "GROUP BY ds, customer_id"
        )

    def bare(self) -> None:
        """The one Spark job of the range, with no checks at all."""
        last = FIRST + timedelta(days=self.days - 1)
        self.frame(FIRST, last).writeTo("lake.bench.bare").overwrite(
            F.expr(f"ds BETWEEN DATE '{FIRST}' AND DATE '{last}'")
        )

    def loop(self) -> None:
        """A job for each day."""
        for number in range(self.days):
            day = FIRST + timedelta(days=number)
            self.frame(day, day).writeTo("lake.bench.loop").overwrite(F.expr(f"ds = DATE '{day}'"))

    def request(self, **changes: object) -> Request:
        """The whole range again."""
        given: dict[str, object] = {
            "tasks": ("revenue",),
            "start": str(FIRST),
            "end": str(FIRST + timedelta(days=self.days)),
            "reprocess": "completed",
            **changes,
        }
        return Request(**given)  # type: ignore[arg-type]

    def backfill(self, **changes: object) -> None:
        """With gates, an outcome for each window, leases and the ledger."""
        result = backfill_project(
            self.project,
            self.request(**changes),
            engine=lambda: self.engine,
            ledger=self.ledger,
        )
        assert result.state == "succeeded", result.failed

    def whole_and_resumed(self, size: int) -> tuple[float, float]:
        """Seconds of a backfill by jobs of some days, and of its resumption after half of them."""
        asked = {"batch_size": size, "max_active_runs": 1}
        begun = time.perf_counter()
        self.backfill(**asked)
        whole = time.perf_counter() - begun
        carry_out, jobs = self.engine.carry_out_batch, 0

        def stopping(task: Task, windows: Sequence[Window], token: Token) -> Outcome:
            nonlocal jobs
            jobs += 1
            if jobs > self.days // size // 2:
                raise KeyboardInterrupt
            return carry_out(task, windows, token)

        self.engine.carry_out_batch = stopping  # type: ignore[method-assign]
        with contextlib.suppress(KeyboardInterrupt):
            self.backfill(**asked)
        self.engine.carry_out_batch = carry_out  # type: ignore[method-assign]
        begun = time.perf_counter()
        self.backfill(**asked)
        return whole, time.perf_counter() - begun


def measure_backfill(runs: int) -> list[Measure]:
    """The range by every way; ratios to the bare job, and to the whole for a resume."""
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake(Path(folder))
        begun = time.perf_counter()
        lake.backfill()
        first = time.perf_counter() - begun
        times = interleaved(
            {
                "60 days: bare overwrite, one job": lake.bare,
                "60 days: setpoint backfill": lake.backfill,
            },
            runs=runs,
            warm=3,
        )
        base = "60 days: bare overwrite, one job"
        results = measures(times, base=base, limits={"60 days: setpoint backfill": "≤ 1.3"})
        looped = interleaved(
            {"60 days: setpoint backfill, again": lake.backfill, "60 days: loop of 60": lake.loop},
            runs=max(2, runs // 3),
            warm=1,
        )
        results += measures(
            looped,
            base="60 days: setpoint backfill, again",
            limits={"60 days: loop of 60": "≥ 5"},
        )
        pairs = [lake.whole_and_resumed(DAYS // 6) for _ in range(1 + max(3, runs // 2))][1:]
        whole, rest = "60 days: backfill by 10 days", "60 days: the same, resumed after half"
        resumed = {whole: [pair[0] for pair in pairs], rest: [pair[1] for pair in pairs]}
        results += measures(resumed, base=whole, limits={rest: "≤ 0.6"})
        print(f"the first backfill of new code, with its probe: {first:.1f} s")
        return results


def measure_cold(runs: int) -> list[Measure]:
    """From the command line: a bare script that starts its own session, and the backfill."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        lake = Lake(root)
        lake.backfill()
        lake.ledger.close()
        conf = catalog_conf(lake.project.settings)
        jars = os.pathsep.join(map(str, resolve_jars(ICEBERG, say=print)))
        lake.engine.spark.stop()
        script = root / "bare.py"
        last = FIRST + timedelta(days=DAYS - 1)
        script.write_text(BARE.format(conf=conf, jars=jars, first=FIRST, last=last))
        end = FIRST + timedelta(days=DAYS)
        backfill = [
            *[sys.executable, "-m", "setpoint", "backfill", "revenue", "--project", str(root)],
            *["--start", str(FIRST), "--end", str(end), "--reprocess-behavior", "completed"],
        ]
        bare, own = "cold, 60 days: bare PySpark script", "cold, 60 days: setpoint backfill"
        times = interleaved(
            {
                bare: lambda: _quietly([sys.executable, str(script)]),
                own: lambda: _quietly(backfill),
            },
            runs=runs,
            warm=1,
        )
        return measures(times, base=bare, limits={own: "< 1"})


def measure_growth() -> list[Point]:
    """Bare job and backfill by number of days and rows: what `docs/performance.md` plots."""
    points = []
    for days, per_day in ((60, PER_DAY), (365, PER_DAY), (60, 10 * PER_DAY)):
        with tempfile.TemporaryDirectory() as folder:
            lake = Lake(Path(folder), days=days, per_day=per_day)
            lake.backfill()
            times = interleaved({"bare": lake.bare, "backfill": lake.backfill}, runs=3, warm=1)
            points += [
                Point(name=name, days=days, rows=days * per_day, seconds=min(seconds))
                for name, seconds in times.items()
            ]
            lake.ledger.close()
    return points


def measure_planning(runs: int) -> list[Measure]:
    """350,688 windows of 15 minutes with a ledger that knows a third; and nothing to do, cold."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "setpoint.toml").write_text(SETTINGS)
        (root / "pipelines").mkdir()
        (root / "pipelines" / "revenue.sql").write_text(
            TASK.replace("grain: day", "grain: 15min").replace("by: ds", "by: at")
        )
        project = load_project(root)
        start = datetime(2016, 1, 1, tzinfo=timezone.utc)
        step = timedelta(minutes=15)
        with open_ledger("sqlite:///.setpoint/ledger.db", root=root, create=True) as ledger:
            ledger.record_many(
                (
                    Recorded(
                        task="revenue",
                        window_start=start + number * step,
                        window_end=start + (number + 1) * step,
                        target="lake.bench.revenue",
                        fingerprint="0" * 16,
                        state="succeeded",
                        rows=1,
                    )
                    for number in range(120_000)
                ),
                pid=1,
                host="bench",
            )
            request = Request(tasks=("revenue",), start="2016-01-01", end="2026-01-01")
            times = interleaved(
                {"plan 350,688 windows": lambda: prepare(project, request, ledger)},
                runs=runs,
                warm=1,
            )
        nothing = [
            *[sys.executable, "-m", "setpoint", "backfill", "revenue", "--project", str(root)],
            *["--start", "2016-01-01", "--end", "2017-01-01"],
        ]
        times |= interleaved(
            {"nothing to do, 35,136 windows, cold": lambda: _quietly(nothing)}, runs=runs, warm=1
        )
        names = list(times)
        return [
            *measures({names[0]: times[names[0]]}, base=names[0], limits={names[0]: "≤ 2 s"}),
            *measures({names[1]: times[names[1]]}, base=names[1], limits={names[1]: "≤ 1 s"}),
        ]


def _quietly(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)
