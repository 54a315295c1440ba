"""How fast the command line answers, and what a cold run costs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measuring import Measure, interleaved, measures

from setpoint.ledger.opening import open_ledger
from setpoint.ledger.record import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

WINDOWS = 100_000
SETPOINT = [sys.executable, "-m", "setpoint"]
SETTINGS = '[project]\nname = "bench"\ndevelopment_date = "2026-04-25"\n'
TASK = """
from setpoint import overwrite, task

@task(target="lake.bench.one", grain="day", write=overwrite(by="day"))
def one(spark, window):
    return spark.sql(f"SELECT 1 AS id, DATE '{window.ds}' AS day")
"""
BARE = """
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from pyspark.sql import SparkSession, functions as F
folder, jars = sys.argv[1], sys.argv[2]
c = "spark.sql.catalog.lake"
spark = SparkSession.builder.config(map={
    "spark.master": "local[*]", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4",
    "spark.driver.extraClassPath": jars,
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    c: "org.apache.iceberg.spark.SparkCatalog", c + ".type": "jdbc",
    c + ".uri": f"jdbc:sqlite:{folder}/catalog.db", c + ".jdbc.schema-version": "V1",
    c + ".warehouse": folder}).getOrCreate()
spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.bench")
spark.sql("CREATE TABLE IF NOT EXISTS lake.bench.one (id INT, day DATE) USING iceberg "
          "PARTITIONED BY (day)")
frame = spark.sql("SELECT 1 AS id, DATE '2026-04-25' AS day")
frame.writeTo("lake.bench.one").overwrite(F.expr("day = DATE '2026-04-25'"))
"""


def measure_commands(runs: int) -> list[Measure]:
    """`--help` and `status`, beside an empty Python process."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        small, large = root / "small", root / "large"
        for project in (small, large):
            project.mkdir()
            (project / "setpoint.toml").write_text(SETTINGS)
            (project / "pipelines").mkdir()
        _record(small, 3)
        _record(large, WINDOWS)
        contenders = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "setpoint --help": [*SETPOINT, "--help"],
            "setpoint status": [*SETPOINT, "status", "--project", str(small)],
            f"setpoint status, {WINDOWS:,} windows": [*SETPOINT, "status", "--project", str(large)],
        }
        actions = {name: _command(command) for name, command in contenders.items()}
        limits = dict(
            zip(list(contenders)[1:], ("≤ 0.150 s", "≤ 0.300 s", "≤ 0.500 s"), strict=True)
        )
        return measures(interleaved(actions, runs=runs), base="python -c pass", limits=limits)


def measure_cold(runs: int) -> list[Measure]:
    """A cold `setpoint run` of one row, against a bare script that does the same write."""
    from setpoint.engine.spark.jars import ICEBERG, resolve_jars

    jars = os.pathsep.join(map(str, resolve_jars(ICEBERG, say=print)))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "setpoint.toml").write_text(SETTINGS)
        (root / "pipelines").mkdir()
        (root / "pipelines" / "one.py").write_text(TASK)
        (root / "bare.py").write_text(BARE)
        (root / "bare").mkdir()
        run = [*SETPOINT, "run", "--project", str(root)]
        contenders = {
            "cold: bare PySpark script": _command(
                [sys.executable, str(root / "bare.py"), str(root / "bare"), jars]
            ),
            "cold: setpoint run": _command(run),
            "cold: setpoint run, no class archive": _command(run, SETPOINT_CLASS_ARCHIVE="off"),
        }
        limits = {"cold: setpoint run": "aim ≤ 1.1"}
        times = interleaved(contenders, runs=runs, warm=1)
        return measures(times, base="cold: bare PySpark script", limits=limits)


def _command(command: list[str], **environment: str) -> Callable[[], None]:
    def run() -> None:
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})

    return run


def _record(project: Path, windows: int) -> None:
    start = datetime(2016, 1, 1, tzinfo=timezone.utc)
    step = timedelta(minutes=15)
    outcomes = (
        Outcome(
            task=f"task_{number % 10}",
            window_start=start + number * step,
            window_end=start + (number + 1) * step,
            target=f"lake.bench.task_{number % 10}",
            fingerprint="0" * 16,
            state="succeeded" if number % 50 else "failed",
            rows=number,
            error=None if number % 50 else "the source was late",
            error_kind=None if number % 50 else "SourceFault",
        )
        for number in range(windows)
    )
    with open_ledger("sqlite:///.setpoint/ledger.db", root=project, create=True) as ledger:
        ledger.record_many(outcomes, pid=1, host="bench")
