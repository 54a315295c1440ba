"""`setpoint doctor` with Spark: tables that cannot be read, and commits that came late."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from tests.spark.targets import target_of

from setpoint.engine.protocol import Token
from setpoint.engine.spark.target import Writing
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project
from setpoint.running.examination import Finding, examine

if TYPE_CHECKING:
    from tests.spark.conftest import Bench

pytestmark = pytest.mark.spark
SCOPE = "order_date >= DATE '2026-04-25' AND order_date < DATE '2026-04-26'"


def _faults(bench: Bench) -> list[Finding]:
    found = examine(bench.root, start_spark=True, say=lambda _text: None)
    assert any(finding.name == "spark" for finding in found)
    return [finding for finding in found if finding.state == "fault"]


def test_a_table_whose_metadata_is_gone_is_named(shop: Bench) -> None:
    """The catalog lists it, and nobody can read it: a fault, with the table's name."""
    shop.ok("2026-04-25")
    assert _faults(shop) == []
    (orders,) = (shop.root / "warehouse").rglob("shop/orders")
    shutil.rmtree(orders / "metadata")
    (fault, *_rest) = _faults(shop)
    assert fault.name == "table lake.shop.orders"
    assert "cannot be read" in fault.found
    assert fault.next_step


def _writing(bench: Bench, fence: int, where: str) -> Writing:
    """A write that is ready, as a paused process holds it."""
    graph = load_project(bench.root).graph
    step = make_plan(graph, select=("orders",), dates=Dates(ds="2026-04-25")).steps[0]
    target = target_of(bench, "lake.shop.orders")
    rows = bench.spark.sql(
        "SELECT *, to_date(ordered_at) AS order_date FROM lake.raw.orders "
        f"WHERE to_date(ordered_at) = DATE '2026-04-25' AND {where}"
    )
    state = target.state()
    assert state is not None
    return Writing(
        task=step.task,
        frame=rows,
        scope=SCOPE,
        token=Token(run_id=f"run{fence}", fence=fence),
        state=state,
        window=step.window,
    )


def test_scenario_14_a_late_commit_over_an_empty_takeover_is_reported(shop: Bench) -> None:
    """What, when, which run, and the command; the rerun repairs it and says so."""
    shop.ok("2026-04-24")
    late, empty = _writing(shop, 900, "true"), _writing(shop, 901, "false")
    target_of(shop, "lake.shop.orders").write(empty)
    target_of(shop, "lake.shop.orders").write(late)
    (fault,) = _faults(shop)
    assert fault.name == "late commit to lake.shop.orders"
    assert "run run900 (fence 900) committed late, at 20" in fault.found
    assert "over run run901 (fence 901)" in fault.found
    assert "setpoint run --select orders --ds 2026-04-25" in str(fault.next_step)
    result = shop.ok("2026-04-25", select=("orders",))[0]
    assert [words for words in result.warnings if "run900" in words and "set it again" in words]
    assert _faults(shop) == []
