"""Merging by key into Postgres: any order, any number of times, one result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from setpoint.engine.protocol import Token
from setpoint.errors import GateFailed, ResultMisshapen
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from tests.spark.postgres.conftest import Mart

pytestmark = pytest.mark.spark
DAYS = ("2026-04-24", "2026-04-25", "2026-04-26")
MERGE = """
@task(target="mart.public.customers", grain="day", write=merge(on="id", version="version"),
      unique_key="id", sources={"feed": Source("lake.raw.feed", event_time="at")})
def customers(feed):
    return feed.drop("at")
"""
# Twelve customers; each day changes some of them, and one batch holds several versions of a key.
FEED = """
SELECT id % 12 AS id, concat('name ', id) AS name, id AS version,
       timestampadd(HOUR, CAST(id AS INT), TIMESTAMP '2026-04-24 00:00:00Z') AS at
FROM range(72) WHERE id % 7 > 1
"""


@pytest.fixture
def feed(mart: Mart) -> Mart:
    """Three days of a change feed, and the task that merges a day of it."""
    mart.table("lake.raw.feed", FEED)
    mart.python(MERGE)
    return mart


def _table(mart: Mart) -> list[tuple[object, ...]]:
    return mart.pg("SELECT id, name, version FROM customers ORDER BY id")


def _expected(mart: Mart) -> list[tuple[object, ...]]:
    return mart.rows(
        f"SELECT id, max_by(name, version), max(version) FROM ({FEED}) GROUP BY id ORDER BY id"
    )


def test_scenario_35_windows_in_random_order_give_one_result(feed: Mart) -> None:
    """B2: whatever order and however often the days come, the newest version of a key stands."""
    plans = {
        day: make_plan(load_project(feed.root).graph, select=(), dates=Dates(ds=day)).steps[0]
        for day in DAYS
    }
    expected = _expected(feed)
    fences = iter(range(1, 10_000))

    @settings(
        max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(order=st.lists(st.sampled_from(DAYS), max_size=3))
    def check(order: list[str]) -> None:
        feed.pg("DROP TABLE IF EXISTS customers")
        for day in (*order, *sorted(set(DAYS) - set(order), reverse=True)):
            fence = next(fences)
            step = plans[day]
            feed.engine.carry_out(step.task, step.window, Token(run_id=f"r{fence}", fence=fence))
        assert _table(feed) == expected

    check()


@pytest.mark.usefixtures("path")
def test_scenario_27_repeats_and_versions_are_reduced_to_one_row(feed: Mart) -> None:
    """C3: equal rows count once, and of several versions the newest."""
    feed.spark.sql("INSERT INTO lake.raw.feed SELECT * FROM lake.raw.feed")
    feed.ok(start="2026-04-24", end="2026-04-27")
    assert _table(feed) == _expected(feed)


def test_scenario_27_one_version_with_different_content_fails(feed: Mart) -> None:
    """B2: a tie has no right answer; the run fails with the keys, and nothing changes."""
    feed.ok(start="2026-04-24", end="2026-04-27")
    before = _table(feed)
    feed.spark.sql(
        "INSERT INTO lake.raw.feed SELECT id, 'other', version, at FROM lake.raw.feed "
        "WHERE version IN (68, 69)"
    )
    error = feed.error("2026-04-26")
    assert isinstance(error, GateFailed)
    assert error.gate == "tie"
    assert {sample.partition(",")[0] for sample in error.samples} == {"id=8", "id=9"}
    assert _table(feed) == before


def test_a_version_that_the_table_has_with_other_content_fails(feed: Mart) -> None:
    """Or the result would depend on which window came first."""
    feed.ok("2026-04-26")
    feed.pg("UPDATE customers SET name = 'meddled' WHERE id = 11")
    error = feed.error("2026-04-26")
    assert isinstance(error, GateFailed)
    assert error.samples == ("id=11",)


def test_null_keys_and_versions_are_refused(feed: Mart) -> None:
    """Scenario 25: a row without a version could never be told newer."""
    feed.spark.sql(
        "INSERT INTO lake.raw.feed VALUES (5, 'x', NULL, TIMESTAMP '2026-04-26 01:00:00Z')"
    )
    error = feed.error("2026-04-26")
    assert isinstance(error, GateFailed)
    assert error.gate == "not_null"


def test_a_table_without_the_key_is_refused_with_what_to_type(feed: Mart) -> None:
    """ON CONFLICT needs a unique index, and an existing table is never altered."""
    feed.pg("CREATE TABLE customers (id bigint, name text, version bigint)")
    error = feed.error("2026-04-26")
    assert isinstance(error, ResultMisshapen)
    assert error.next_step == 'CREATE UNIQUE INDEX ON "public"."customers" ("id")'
    feed.pg(error.next_step)
    feed.ok("2026-04-26")
