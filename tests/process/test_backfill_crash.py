"""Backfills whose process is killed for real, at random moments: the same command goes on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.process.conftest import Shell

pytestmark = pytest.mark.process

KILLS = int(os.environ.get("SETPOINT_KILLS", "1"))
SEED = int(os.environ.get("SETPOINT_SEED", str(random.randrange(1_000_000))))
DAYS = 12
TASKS = """\
from pyspark.sql import functions as F
from setpoint import Source, overwrite, replace, task


@task(target="lake.raw.orders", write=replace())
def source(spark):
    at = F.timestamp_seconds(F.lit(1775001600) + F.col("id") * 864)  # 2026-04-01, 100 a day
    return spark.range(1200).select("id", (F.col("id") % 7).alias("region"), at.alias("at"))


@task(target="lake.shop.daily", grain="day", write=overwrite(by="day"),
      unique_key=["day", "region"], sources={"raw": Source("lake.raw.orders", event_time="at")})
def daily(raw):
    return raw.groupBy(F.to_date("at").alias("day"), "region").agg(F.sum("id").alias("total"))
"""
RANGE = ("--start", "2026-04-01", "--end", "2026-04-13")
COMMAND = ("backfill", "daily", *RANGE, "--reprocess-behavior", "completed", "--batch-size", "2")


def test_killed_at_random_moments_the_table_is_that_of_a_clean_run(
    shell: Shell, tmp_path: Path
) -> None:
    """Scenarios 1 to 4 and 8: Python alone or the JVM with it, before, in and after a commit."""
    (tmp_path / "setpoint.toml").touch()
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "tasks.py").write_text(TASKS)
    shell("run", "--select", "source")
    chance = random.Random(SEED)
    for number in range(KILLS):
        print(f"seed {SEED}, kill {number}", flush=True)  # noqa: T201 — to repeat a failure
        killed_somewhere(tmp_path, chance)
    last = shell(*COMMAND)
    assert "failed" not in last.stdout, f"seed {SEED}: {last.stdout}"
    # The whole range once more, aside, by a clean run: no row may differ.
    checked = shell("backfill", "daily", *RANGE, "--check", "--output", "json")
    (found,) = json.loads(checked.stdout)["checks"]
    assert found["same"], f"seed {SEED}: {found}"
    runs = json.loads(shell("status", "daily", "--output", "json").stdout)["runs"]
    assert [run["state"] for run in runs] == ["succeeded"] * DAYS
    assert [run["rows"] for run in runs] == [7] * DAYS
    done = shell(*COMMAND[:-4], "--missing")
    assert "nothing to do" in done.stdout


def killed_somewhere(folder: Path, chance: random.Random) -> None:
    """Begin the backfill, and kill it a random while after a random line of its output."""
    command = [sys.executable, "-m", "setpoint", *COMMAND]
    lines = chance.randrange(1, 12)
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        assert running.stdout is not None
        begun = False
        for line in running.stdout:
            begun = begun or line.startswith("backfill ")
            lines -= begun
            if lines <= 0:
                break
        time.sleep(chance.random())
        if chance.random() < 0.3:
            running.kill()  # the JVM lives on, and may commit late
        else:
            os.killpg(running.pid, signal.SIGKILL)


def test_ctrl_c_ends_a_backfill_with_130_and_the_same_command_goes_on(
    shell: Shell, tmp_path: Path
) -> None:
    """Scenario 23: a clean word, no stack, leases freed, and only what is missing afterwards."""
    (tmp_path / "setpoint.toml").touch()
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "tasks.py").write_text(TASKS)
    shell("run", "--select", "source")
    command = [sys.executable, "-m", "setpoint", *COMMAND]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if line.startswith("daily  ") and "succeeded" in line:
                break
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=120)
    assert running.returncode == 130, errors
    assert errors.strip() == "stopped; the next run goes on from here"
    listed = json.loads(shell("backfill", "status", "--output", "json").stdout)["backfills"]
    (stopped,) = listed
    assert stopped["state"] == "interrupted"
    assert 0 < stopped["done"] < DAYS
    rest = shell("backfill", "resume", stopped["backfill"])
    assert "done earlier in this backfill" in rest.stdout
    assert f"backfill {stopped['backfill']} succeeded" in rest.stdout
