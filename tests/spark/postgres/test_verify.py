"""Verifying tasks whose target is a Postgres table: on copies in the same database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from setpoint.verifying.project_verification import verify_project

if TYPE_CHECKING:
    from tests.spark.postgres.conftest import Mart

    from setpoint.verifying.verdict import Verdict

pytestmark = pytest.mark.spark
TABLES = """
SELECT schemaname, tablename FROM pg_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2
"""
MERGED = """
@task(target="mart.public.orders", grain="day", write=merge(on=["order_id"], version="ordered_at"),
      sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
def orders(raw):
    return raw
"""
STAMPED = """
@task(target="mart.public.stamped", grain="day", write=replace(by="order_date"),
      unique_key="order_id",
      sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
def stamped(raw):
    return (raw.withColumn("order_date", F.to_date("ordered_at"))
            .withColumn("loaded_at", F.current_timestamp()))
"""


def database(mart: Mart, live: str) -> list[list[tuple[Any, ...]]]:
    """Everything in the database that a run can change, down to the version of each row."""
    return [
        mart.pg(TABLES),
        mart.pg(f"SELECT xmin::text, ctid::text, t::text FROM {live} t ORDER BY 2"),
        mart.pg("SELECT t::text FROM setpoint.commits t ORDER BY 1"),
    ]


def verified(mart: Mart, task: str, *checks: str) -> Verdict:
    """The verdict on one task."""
    (verdict,) = verify_project(mart.root, tasks=[task], ds="2026-04-25", checks=checks)
    assert verdict.error is None, verdict.error
    return verdict


def test_every_check_is_made_on_copies_and_the_mart_stays_as_it_was(shop: Mart) -> None:
    """Rows, tables and the record of commits: not one of them is another."""
    shop.ok("2026-04-25")
    before = database(shop, "public.daily")
    verdict = verified(shop, "daily")
    assert verdict.idempotent, verdict.failures
    assert {found.state for found in verdict.findings} == {"passed"}
    assert database(shop, "public.daily") == before
    assert shop.staging() == []


def test_a_merge_is_verified_too(mart: Mart) -> None:
    """Its windows cannot be told apart in the table, so the whole table is compared."""
    from tests.spark.conftest import ORDERS

    mart.table("lake.raw.orders", ORDERS)
    mart.python(MERGED)
    mart.ok("2026-04-25")
    before = database(mart, "public.orders")
    verdict = verified(mart, "orders", "two", "crash", "order", "batch")
    assert verdict.idempotent, verdict.failures
    states = {found.check: found.state for found in verdict.findings}
    assert states == {"two": "passed", "crash": "passed", "order": "passed", "batch": "left out"}
    assert database(mart, "public.orders") == before


def test_a_broken_task_is_caught_with_its_rows(shop: Mart) -> None:
    """The counter-example is read from the copies, and the copies are gone."""
    shop.ok("2026-04-25")
    shop.python(STAMPED, "more")
    before = database(shop, "public.daily")
    verdict = verified(shop, "stamped", "two")
    (failure,) = verdict.failures
    assert failure.difference is not None
    assert failure.difference.columns == ("loaded_at",)
    assert failure.difference.after == 144
    assert failure.cause is not None
    assert failure.cause.kind == "clock"
    assert database(shop, "public.daily") == before
