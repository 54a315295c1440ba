"""Whole commands at once on one table, one SQLite catalog and one SQLite ledger."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from setpoint.ledger.opening import open_ledger

pytestmark = pytest.mark.process
PROCESSES = int(os.environ.get("SETPOINT_PROCESSES", "3"))
DAYS = 3
PATIENCE = 600
TASK = """\
from setpoint import overwrite, task


@task(target="lake.shop.days", grain="day", write=overwrite(by="day"), unique_key="id")
def days(spark, window):
    return spark.sql(f"SELECT id, DATE '{window.ds}' AS day FROM range(100)")
"""


def test_scenario_13_commands_on_different_windows_lose_no_commit(tmp_path: Path) -> None:
    """Each sets days of its own; all commit to one table, which none of them had made before."""
    (tmp_path / "setpoint.toml").touch()
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "days.py").write_text(TASK)
    command = [sys.executable, "-m", "setpoint", "run"]
    running = []
    for number in range(PROCESSES):
        first = 1 + number * DAYS
        dates = ["--start", f"2026-04-{first:02}", "--end", f"2026-04-{first + DAYS:02}"]
        running.append(
            subprocess.Popen(
                [*command, *dates],
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    for process in running:
        out, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, out + errors
        assert out.count("succeeded  100 rows") == DAYS
    with open_ledger("sqlite:///.setpoint/ledger.db", root=tmp_path, create=False) as ledger:
        assert ledger.leases() == []
        assert len({run.snapshot for run in ledger.runs(limit=None)}) == PROCESSES * DAYS
    assert rows_of_the_table(tmp_path) == PROCESSES * DAYS * 100


def rows_of_the_table(folder: Path) -> int:
    """What the newest snapshot counts, from the catalog's file and the table's own metadata."""
    with closing(sqlite3.connect(folder / "warehouse" / "catalog.db")) as catalog:
        ((place,),) = catalog.execute("SELECT metadata_location FROM iceberg_tables").fetchall()
    metadata = json.loads(Path(place.removeprefix("file:")).read_text())
    newest = metadata["current-snapshot-id"]
    (snapshot,) = [each for each in metadata["snapshots"] if each["snapshot-id"] == newest]
    return int(snapshot["summary"]["total-records"])
