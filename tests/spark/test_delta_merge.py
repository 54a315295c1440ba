"""MERGE on Delta: one row a key, the newest version, whatever order windows arrive in."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest
from tests.spark.conftest import TOML, Bench

from setpoint.engine.protocol import Token
from setpoint.errors import GateFailed
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SCHEMA = "id BIGINT, name STRING, seq BIGINT, op STRING, at TIMESTAMP"
TASK = """
@task(target="dl.shop.customers", grain="day",
      write=merge(on="id", version="seq", delete_when="op = 'D'"),
      sources={"feed": Source("lake.raw.feed", event_time="at")})
def customers(feed):
    return feed.drop("at")
"""
Change = tuple[int, str, int, str, int]
"""id, name, seq, op, day of April 2026."""


@pytest.fixture
def lake(jvm: SparkSession, tmp_path: Path) -> Bench:  # noqa: ARG001 — the JVM must be up
    """A project with a Delta catalog and a task that merges a feed of changes."""
    bench = Bench(tmp_path, TOML + '[catalogs.lake]\n[catalogs.dl]\ntype = "delta"\n')
    bench.python(TASK)
    return bench


def _feed(bench: Bench, changes: Iterable[Change]) -> None:
    rows = [
        (key, name, seq, op, datetime(2026, 4, day, 12, tzinfo=timezone.utc))
        for key, name, seq, op, day in changes
    ]
    bench.spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.raw")
    frame = bench.spark.createDataFrame(rows, SCHEMA)
    frame.writeTo("lake.raw.feed").using("iceberg").createOrReplace()


def _table(bench: Bench) -> str:
    return f"delta.`{bench.root / 'delta' / 'shop' / 'customers'}`"


def _live(bench: Bench) -> list[tuple[object, ...]]:
    where = "_setpoint_deleted IS NOT TRUE"
    return bench.rows(f"SELECT id, name, seq FROM {_table(bench)} WHERE {where} ORDER BY id")


def test_scenario_35_windows_in_any_order_give_the_newest_row_a_key(lake: Bench) -> None:
    """B2: inserts, a change, a delete and its tombstone, in two orders with repetitions."""
    _feed(
        lake,
        [
            (1, "Ann", 1, "I", 1),
            (1, "Anna", 3, "U", 2),
            (1, "An", 2, "U", 2),
            (2, "Bo", 1, "I", 1),
            (2, "Bo", 2, "D", 3),
            (3, "Cy", 1, "I", 2),
        ],
    )
    for day in (3, 1, 2, 1, 3):
        lake.ok(f"2026-04-0{day}")
    assert _live(lake) == [(1, "Anna", 3), (3, "Cy", 1)]
    assert lake.count(_table(lake)) == 3
    again = lake.ok("2026-04-02")[0]
    assert (again.rows, again.replaced) == (0, 0)


def test_a_merge_counts_what_it_changed_and_is_adopted(lake: Bench) -> None:
    """The token is in the commit; a merge that the ledger missed is not done again."""
    _feed(lake, [(1, "Ann", 1, "I", 1), (2, "Bo", 1, "I", 1), (1, "Anna", 2, "U", 2)])
    first = lake.ok("2026-04-01")[0]
    assert (first.rows, first.replaced) == (2, 0)
    step = make_plan(load_project(lake.root).graph, select=(), dates=Dates(ds="2026-04-02")).steps[
        0
    ]
    assert step.window is not None
    started = lake.ledger.begin(
        step.task.name,
        step.window.start,
        step.window.end,
        target=str(step.task.target),
        fingerprint=step.task.fingerprint,
        pid=1,
        host="gone",
    )
    token = Token(run_id=started.run_id, fence=started.fence)
    outcome = lake.engine.carry_out(step.task, step.window, token)
    assert (outcome.rows, outcome.replaced) == (1, 1)
    result = lake.ok("2026-04-02")[0]
    assert result.adopted
    assert result.snapshot == outcome.snapshot
    assert _live(lake) == [(1, "Anna", 2), (2, "Bo", 1)]


def test_scenario_27_a_tie_with_the_table_is_refused(lake: Bench) -> None:
    """One version with two contents: nothing is written, and the row is shown."""
    _feed(lake, [(1, "Ann", 1, "I", 1), (1, "Anna", 1, "U", 2), (2, "Bo", 1, "I", 2)])
    lake.ok("2026-04-01")
    error = lake.error("2026-04-02")
    assert isinstance(error, GateFailed)
    assert error.gate == "tie"
    assert error.samples
    assert _live(lake) == [(1, "Ann", 1)]


def test_a_table_with_repeated_keys_is_refused(lake: Bench) -> None:
    """C4: the gate covers keys that are in the table already."""
    _feed(lake, [(1, "Ann", 1, "I", 1), (2, "Bo", 1, "I", 2)])
    lake.ok("2026-04-01")
    lake.spark.sql(f"INSERT INTO {_table(lake)} SELECT * FROM {_table(lake)}")
    error = lake.error("2026-04-02")
    assert isinstance(error, GateFailed)
    assert error.gate == "unique"
