"""The whole process tree killed in the middle of Spark's work: Python, the JVM and its workers."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pyarrow.dataset
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.process.conftest import Shell

pytestmark = pytest.mark.process
PATIENCE = 120
DAY = "2026-04-25"
TOML = """\
[project]
name = "tree"
[catalogs.lake]
[catalogs.dl]
type = "delta"
warehouse = "dl"
[catalogs.hive]
type = "parquet"
warehouse = "hive"
"""
TASKS = """\
from pathlib import Path
from pyspark.sql import functions as F
from setpoint import overwrite, task

HERE = str(Path(__file__).parent.parent)


def days(spark, window, name):
    def wait(n):
        import os, time
        while n >= 20 and os.path.exists(f"{HERE}/hold-{name}"):
            open(f"{HERE}/reached-{name}", "w").close()
            time.sleep(0.02)
        return n

    # Two parts: the first is written while the second waits.
    rows = spark.range(0, 40, 1, 2).withColumn("id", F.udf(wait, "long")("id"))
    return rows.withColumn("day", F.lit(window.start.date()))


# They run in the order of their names.
@task(target="lake.shop.days", grain="day", write=overwrite(by="day"))
def a_lake(spark, window):
    return days(spark, window, "lake")


@task(target="dl.shop.days", grain="day", write=overwrite(by="day"))
def b_delta(spark, window):
    return days(spark, window, "delta")


@task(target="hive.shop.days", grain="day", write=overwrite(by="day"))
def c_hive(spark, window):
    return days(spark, window, "hive")
"""


def _kill_tree(shell: Shell, ready: Callable[[], object]) -> None:
    """Start a run in a group of its own, wait, and kill every process of it."""
    run = subprocess.Popen(
        [sys.executable, "-m", "setpoint", "run", "--ds", DAY],
        cwd=shell.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    until = time.monotonic() + PATIENCE
    while not ready():
        assert run.poll() is None, run.communicate()[0].decode()
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()


def _half_written(root: Path, name: str) -> bool:
    """Whether the second file waits, and the first one is there."""
    folder = root / ("dl" if name == "delta" else "hive")
    return (root / f"reached-{name}").exists() and any(folder.rglob("*.parquet"))


def _hive_rows(folder: Path) -> list[int]:
    found = pyarrow.dataset.dataset(folder / "hive" / "shop" / "days", partitioning="hive")
    return sorted(row["id"] for row in found.to_table().to_pylist())


def test_scenarios_2_and_3_the_tree_is_killed_in_the_write_and_before_the_commit(
    shell: Shell,
) -> None:
    """Half of the files there, or all of them and no commit: no reader sees any; the run is right.

    Iceberg is killed between files and commit, held there by a lock on its catalog; Delta and
    Parquet while the second of two files waits to be written.
    """
    root = shell.folder
    (root / "setpoint.toml").write_text(TOML)
    (root / "pipelines").mkdir()
    (root / "pipelines" / "tasks.py").write_text(TASKS)
    shell("run", "--ds", "2026-04-24", "--select", "a_lake")

    metadata = next((root / "warehouse").rglob("shop/days/metadata"))
    files = len(list(metadata.glob("*.metadata.json")))
    with closing(sqlite3.connect(root / "warehouse" / "catalog.db")) as catalog:
        catalog.isolation_level = None
        catalog.execute("BEGIN IMMEDIATE")  # readers go on, a commit waits
        _kill_tree(shell, lambda: len(list(metadata.glob("*.metadata.json"))) > files)
    for name in ("delta", "hive"):
        (root / f"hold-{name}").touch()
        _kill_tree(shell, partial(_half_written, root, name))
        (root / f"hold-{name}").unlink()
    assert _hive_rows(root) == []
    runs = json.loads(shell("run", "--ds", DAY, "--checksum", "--output", "json").stdout)["runs"]
    assert {run["rows"] for run in runs} == {40}
    assert len({run["checksum"] for run in runs}) == 1  # the same rows in each
    assert _hive_rows(root) == list(range(40))
    own = root / "hive" / "shop" / "days" / "_setpoint"
    assert list(own.glob("staging/*")) == []
