"""Postgres as a source: bounded by the server, read side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from setpoint.engine.spark.postgres.moment import Moments
from setpoint.errors import SourceFault
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from tests.spark.postgres.conftest import Mart

pytestmark = pytest.mark.spark
TABLE = """
CREATE TABLE orders (order_id bigint PRIMARY KEY, amount numeric(10,2),
                     "Ordered At" {kind}, order_date date);
INSERT INTO orders SELECT id, id, at, at::date FROM (
  SELECT id, {start} + id * interval '10 minutes' AS at FROM generate_series(0, 431) AS id) AS x
"""
COPY = """
@task(target="lake.shop.orders", grain="day", timezone={zone!r},
      write=overwrite(by="order_date"), unique_key="order_id",
      sources={{"raw": Source("mart.public.orders", event_time={column!r})}})
def orders(raw):
    return raw
"""


def _partitions(mart: Mart, *, meanwhile: str | None = None) -> tuple[int, list[int]]:
    """How many ranges a source is read in, and the rows of each; after a statement if given."""
    step = make_plan(load_project(mart.root).graph, select=(), dates=Dates(ds="2026-04-25")).steps[
        0
    ]
    from setpoint.engine.spark.target import open_source
    from setpoint.project.settings import read_settings

    with Moments() as moments:
        view, bounded = open_source(
            mart.spark, read_settings(mart.root), step.task.sources[0], step.window, moments
        )
        assert bounded
        frame = mart.spark.table(view)
        if meanwhile is not None:
            mart.pg(meanwhile)
        counts = frame.groupBy(F.spark_partition_id()).count().collect()
    return len(counts), sorted(row["count"] for row in counts)


@pytest.mark.parametrize(
    ("kind", "start", "column", "zone"),
    [
        ("timestamptz", "timestamptz '2026-04-24 00:00+00'", "ordered at", "UTC"),
        ("timestamptz", "timestamptz '2026-04-24 00:00+02'", "Ordered At", "Europe/Berlin"),
        ("timestamp", "timestamp '2026-04-24 00:00'", "Ordered At", "Europe/Berlin"),
        ("timestamptz(3)", "timestamptz '2026-04-24 00:00+00'", "order_date", "UTC"),
    ],
)
def test_a_window_is_read_exactly(
    mart: Mart, kind: str, start: str, column: str, zone: str
) -> None:
    """D2: neither a row more nor less than the window, in four parts of like size."""
    mart.pg(f"SET TIME ZONE '{zone}'; " + TABLE.format(kind=kind, start=start))
    mart.python(COPY.format(zone=zone, column=column))
    assert mart.ok("2026-04-25")[0].rows == 144
    assert mart.rows("SELECT min(order_id), max(order_id) FROM lake.shop.orders") == [(144, 287)]
    assert _partitions(mart) == (4, [36, 36, 36, 36])


def test_all_ranges_are_read_at_one_moment(mart: Mart) -> None:
    """What another session deletes while the ranges are read is in each of them, or in none."""
    mart.pg(TABLE.format(kind="timestamptz", start="timestamptz '2026-04-24 00:00+00'"))
    mart.python(COPY.format(zone="UTC", column="Ordered At"))
    assert _partitions(mart, meanwhile="DELETE FROM orders") == (4, [36, 36, 36, 36])
    held = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
    assert mart.pg(held) == [(0,)]


def test_the_window_is_in_the_query_that_the_server_gets(mart: Mart) -> None:
    """Checked in the server's own log: no query reads the whole table."""
    mart.pg(TABLE.format(kind="timestamptz", start="timestamptz '2026-04-24 00:00+00'"))
    mart.python(COPY.format(zone="UTC", column="Ordered At"))
    mart.pg(f"ALTER DATABASE {mart.database} SET log_statement = 'all'")
    seen = len(mart.server.log())
    mart.ok("2026-04-25")
    read = [line for line in mart.server.log()[seen:].splitlines() if 'FROM "public"."or' in line]
    rows = [line for line in read if "1=0" not in line and "WHERE 1=0" not in line]
    assert len(rows) >= 4
    for line in rows:
        assert """"Ordered At" >= TIMESTAMPTZ '2026-04-25""" in line
        assert """ AND "Ordered At" < TIMESTAMPTZ '2026-04-2""" in line


def test_a_static_source_is_read_whole_by_its_key(mart: Mart) -> None:
    """A lookup without time is read in ranges of its whole-number key."""
    mart.pg(TABLE.format(kind="timestamptz", start="timestamptz '2026-04-24 00:00+00'"))
    mart.sql(
        """
        /*
        target: lake.shop.sums
        sources:
          raw: {table: mart.public.orders, static: true}
        */
        SELECT count(*) AS orders, sum(amount) AS amount,
               count(DISTINCT raw.order_id) AS ids FROM raw
        """,
        "sums",
    )
    mart.ok()
    assert mart.rows("SELECT orders, amount, ids FROM lake.shop.sums") == [
        (432, sum(range(432)), 432)
    ]


def test_a_missing_table_or_column_is_said(mart: Mart) -> None:
    """The source is named, and the columns that there are."""
    mart.python(COPY.format(zone="UTC", column="at"))
    error = mart.error("2026-04-25")
    assert isinstance(error, SourceFault)
    assert "mart.public.orders does not exist" in error.message
    mart.pg("CREATE TABLE orders (order_id bigint, order_date date)")
    error = mart.error("2026-04-25")
    assert isinstance(error, SourceFault)
    assert error.facts["columns"] == "order_id, order_date"


def test_a_lake_feeds_a_mart_that_feeds_a_lake(shop: Mart) -> None:
    """B6: one graph over lake and database, upstream first."""
    shop.sql(
        """
        /*
        target: lake.shop.totals
        grain: day
        write: {overwrite: {by: order_date}}
        sources:
          daily: {table: mart.public.daily, event_time: order_date}
        */
        SELECT order_date, sum(orders) AS orders FROM daily GROUP BY order_date
        """,
        "totals",
    )
    results = shop.ok("2026-04-25", select=("totals",))
    assert [result.step.task.name for result in results] == ["daily", "totals"]
    assert shop.rows("SELECT CAST(orders AS INT) FROM lake.shop.totals") == [(144,)]
