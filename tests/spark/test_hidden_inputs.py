"""Clocks and chance are found before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.errors import HiddenInput

if TYPE_CHECKING:
    from tests.spark.conftest import Bench

pytestmark = pytest.mark.spark

TASK = """
import datetime, random, time, uuid

@task(target="lake.shop.orders", grain="day", write=overwrite(by="order_date"),
      unique_key="order_id", {options}
      sources={{"raw": Source("lake.raw.orders", event_time="ordered_at")}})
def orders(raw, window):
    frame = raw.withColumn("order_date", F.to_date("ordered_at"))
    return frame{change}
"""
REFUSED = {
    '.withColumn("seen", F.current_timestamp())': ("current_timestamp", "column seen"),
    '.withColumn("seen", F.expr("now()"))': ("now", "column seen"),
    '.where(F.col("ordered_at") > F.expr("current_date() - INTERVAL 9 YEARS"))': (
        "current_date",
        "a filter",
    ),
    '.withColumn("luck", F.rand())': ("rand", "column luck"),
    '.withColumn("id", F.expr("uuid()"))': ("uuid", "column id"),
    '.withColumn("n", F.monotonically_increasing_id())': (
        "monotonically_increasing_id",
        "column n",
    ),
    '.withColumn("day", F.lit(datetime.date.today()))': ("python", "column day"),
    '.withColumn("at", F.lit(datetime.datetime.now()))': ("python", "column at"),
    '.withColumn("at", F.lit(time.time()))': ("python", "column at"),
    '.withColumn("key", F.lit(str(uuid.uuid4())))': ("python", "column key"),
    '.withColumn("luck", F.lit(random.random()))': ("python", "column luck"),
    '.withColumn("luck", F.rand(7)).withColumn("at", F.lit(time.time()))': ("python", "column at"),
    '.select("*", *[F.lit(n).alias(f"c{n}") for n in range(40)], F.now().alias("seen"))': (
        "now",
        "column seen",
    ),
}
SOUND = {
    "": "",
    '.withColumn("ds", F.lit(window.ds))': "",
    '.withColumn("word", F.lit("now() rand() current_date()"))': "",
    '.withColumn("key", surrogate_key("order_id"))': "",
    '.withColumn("luck", F.lit(random.Random(7).random()))': "",
    '.withColumn("at", F.current_timestamp())': 'allow=[Allow("current_timestamp", "audit")],',
    '.withColumn("at", F.lit(time.time()))': 'allow={"python": "an audit column"},',
}


@pytest.mark.parametrize("change", REFUSED)
def test_a_hidden_input_is_refused_before_the_write(shop: Bench, change: str) -> None:
    """D3: the function, the column and the fix are named; the table is not even made."""
    function, place = REFUSED[change]
    shop.python(TASK.format(options="", change=change))
    error = shop.error("2026-04-25")
    assert isinstance(error, HiddenInput), error
    assert (error.facts["function"], error.facts["place"]) == (function, place)
    assert error.facts["fix"]
    assert not shop.exists("lake.shop.orders")


@pytest.mark.parametrize("change", SOUND)
def test_what_only_looks_like_one_or_is_allowed_passes(shop: Bench, change: str) -> None:
    """No false alarm for literals, windows, seeds and hashes; `allow` is the written way out."""
    shop.python(TASK.format(options=SOUND[change], change=change))
    assert shop.ok("2026-04-25")[0].rows == 144


def test_order_dependent_functions_draw_a_warning(shop: Bench) -> None:
    """`first` may be sound, so it runs; the person is told."""
    shop.python("""
        @task(target="lake.shop.firsts", grain="day", write=overwrite(by="order_date"),
              sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
        def firsts(raw):
            return raw.groupBy(F.to_date("ordered_at").alias("order_date")).agg(
                F.first("order_id").alias("one"))
    """)
    (result,) = shop.ok("2026-04-25")
    assert len(result.warnings) == 1
    assert "first in column one" in result.warnings[0]


def test_a_clock_in_sql_is_refused(shop: Bench) -> None:
    """The same for a SQL task, in a join too."""
    shop.sql(
        """
        /*
        target: lake.shop.late
        grain: day
        write: {overwrite: {by: order_date}}
        sources:
          orders: {table: lake.raw.orders, event_time: ordered_at}
        */
        SELECT to_date(a.ordered_at) AS order_date, a.order_id
        FROM orders a JOIN orders b ON a.order_id = b.order_id AND b.ordered_at < now()
        """,
        "late",
    )
    error = shop.error("2026-04-25", select=("late",))
    assert isinstance(error, HiddenInput)
    assert (error.facts["function"], error.facts["place"]) == ("now", "a join")
