"""Rows that come late: windows opened again, or the rows left out and reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.spark.conftest import Bench

pytestmark = pytest.mark.spark
RAW = """
SELECT * FROM VALUES
  (1, TIMESTAMP '2026-04-24 10:00:00Z', TIMESTAMP '2026-04-24 10:05:00Z'),
  (2, TIMESTAMP '2026-04-25 10:00:00Z', TIMESTAMP '2026-04-25 10:05:00Z')
AS t(order_id, ordered_at, loaded_at)
"""
TASK = """
@task(target="lake.shop.orders", grain="day", write=overwrite(by="order_date"), {policy},
      sources={{"raw": Source("lake.raw.orders", event_time="ordered_at",
                             arrival_time="loaded_at")}})
def orders(raw):
    return raw.withColumn("order_date", F.to_date("ordered_at"))
"""
LATE = """
INSERT INTO lake.raw.orders
SELECT 100 + id, TIMESTAMP '2026-04-24 11:00:00Z', TIMESTAMP '2026-04-25 09:00:00Z' FROM range({n})
"""


def _shop(bench: Bench, policy: str) -> Bench:
    bench.table("lake.raw.orders", RAW)
    bench.python(TASK.format(policy=policy))
    bench.ok("2026-04-24")
    return bench


def test_scenario_29_lookback_takes_late_rows_in(bench: Bench) -> None:
    """D4: the run of the 25th sets the 24th again, with the row that came after it had been set."""
    _shop(bench, "lookback=1")
    bench.spark.sql(LATE.format(n=1))
    results = bench.ok("2026-04-25")
    assert [result.step.label for result in results] == ["2026-04-24", "2026-04-25"]
    assert bench.rows("SELECT order_id FROM lake.shop.orders ORDER BY 1") == [(1,), (2,), (100,)]


@pytest.mark.parametrize(("late", "samples"), [(2, 2), (7, 5)])
def test_scenario_29_excluded_late_rows_are_counted_and_sampled(
    bench: Bench, late: int, samples: int
) -> None:
    """D4: they are not written; the record of the run tells how many, and five of them."""
    _shop(bench, 'late="exclude"')
    bench.spark.sql(LATE.format(n=late))
    (result,) = bench.ok("2026-04-25")
    assert bench.count("lake.shop.orders") == 2
    assert result.warnings == (f"raw: {late} rows came late and were left out",)
    recorded = bench.ledger.run(result.run_id or "").detail["late"]
    assert isinstance(recorded, dict)
    found = recorded["raw"]
    assert isinstance(found, dict)
    assert found["rows"] == late
    assert isinstance(found["samples"], list)
    assert len(found["samples"]) == samples
    assert "ordered_at=2026-04-24" in str(found["samples"][0])


def test_scenario_29_a_window_without_late_rows_says_nothing(bench: Bench) -> None:
    """The record has a zero, the person is left in peace."""
    _shop(bench, 'late="exclude"')
    (result,) = bench.ok("2026-04-25")
    assert result.warnings == ()
    detail = bench.ledger.run(result.run_id or "").detail
    assert detail["late"] == {"raw": {"rows": 0, "samples": []}}
