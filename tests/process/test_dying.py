"""Processes that die for real: the retry is right, and nobody saw anything half."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from setpoint.ledger.opening import open_ledger

if TYPE_CHECKING:
    from pathlib import Path

    from tests.process.conftest import Shell

pytestmark = pytest.mark.process


def test_scenario_2_the_incident_as_the_demo_tells_it(shell: Shell, tmp_path: Path) -> None:
    """O1, A2: appending gives 430,000 rows; the task, killed in its write, gives 250,000."""
    told = shell("demo", "--folder", str(tmp_path / "demo")).stdout
    table = {
        line[:26].strip(): line[26:].split() for line in told.splitlines() if "rows " in line[:26]
    }
    assert table["rows seen after the crash"] == ["180,000", "0"]
    assert table["rows after the retry"] == ["430,000", "250,000"]
    assert "the days before and after: untouched, by checksum" in told
    assert "one checksum" in told
    assert "next:" in told
    shell.folder = tmp_path / "demo"
    history = shell("history").stdout
    assert history.count("succeeded") == 6
    assert "failed" not in history


def test_scenario_10_a_full_disk_is_a_clear_error_and_the_old_rows_stay(
    shell: Shell, tmp_path: Path
) -> None:
    """No space where the table lives: said so; with space again the same command is right."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare(1) for a small disk of its own")
    shell("init", "shop")
    shop = tmp_path / "shop"
    (shop / "warehouse").mkdir()
    task = shop / "pipelines" / "sample_orders.py"
    command = f"{sys.executable} -m setpoint run --select sample_orders"
    script = (
        "set -e\n"
        f"mount -t tmpfs -o size=3m tmpfs '{shop}/warehouse'\n"
        f"{command}\n"
        f"sed -i 's/1000/400_000/g' '{task}'\n"
        f"{command} 2>errors.txt && exit 9\n"
        f"mount -o remount,size=300m '{shop}/warehouse'\n"
        f"sed -i 's/400_000/1000/g' '{task}'\n"
        f"{command}\n"
    )
    namespaces = ["unshare", "--mount", "--map-root-user"]
    if subprocess.run([*namespaces, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs user namespaces for a small disk of its own")
    done = subprocess.run(
        [*namespaces, "sh", "-c", script], cwd=shop, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    errors = (shop / "errors.txt").read_text()
    assert "no space is left where the table lives" in errors
    assert "Traceback" not in errors
    assert "replaced 1,000" in done.stdout.splitlines()[-1]


SLOW = """\
from pyspark.sql import functions as F
from setpoint import replace, task


@task(target="lake.shop.slow", write=replace())
def slow(spark):
    wait = F.udf(lambda n: __import__("time").sleep(600) or n, "long")
    print("built", flush=True)
    return spark.range(1).select(wait("id").alias("id"))


@task(target="lake.shop.tail", write=replace())
def tail(spark):
    return spark.range(1)
"""


@pytest.mark.parametrize(
    ("number", "code", "name"),
    [(signal.SIGINT, 130, "KeyboardInterrupt"), (signal.SIGTERM, 143, "Terminated")],
    ids=["ctrl-c", "sigterm"],
)
def test_scenario_23_a_signal_ends_the_run_cleanly_and_blames_no_task(
    shell: Shell, tmp_path: Path, number: signal.Signals, code: int, name: str
) -> None:
    """In the middle of a Spark job: no stack, nothing after it is run, no lease is left."""
    (tmp_path / "setpoint.toml").touch()
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "slow.py").write_text(SLOW)
    command = [sys.executable, "-m", "setpoint", "run"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        built = 0
        while built < 2:  # the plan is built twice, then the job begins
            line = running.stdout.readline()
            assert line, running.communicate()[1]
            built += line.startswith("built")
        running.send_signal(number)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == code, errors
    assert errors.strip() == "stopped; the next run goes on from here"
    with open_ledger("sqlite:///.setpoint/ledger.db", root=tmp_path, create=False) as ledger:
        assert ledger.leases() == []
    (run,) = json.loads(shell("status", "--output", "json").stdout)["runs"]
    assert (run["task"], run["state"]) == ("slow", "failed")
    assert run["error"] == f"interrupted: {name}"
