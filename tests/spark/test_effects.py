"""Effects of tasks on Spark: made of what was committed, sent once."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from tests.effects.receivers import HttpReceiver

from setpoint.effects.once import ProcessedEvents
from setpoint.effects.processed import process_once
from setpoint.engine.spark.levels import levels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.postgres_server import PostgresServer
    from tests.spark.conftest import Bench

pytestmark = pytest.mark.spark

REVENUE = """
@task(target="lake.shop.revenue", grain="day", write=overwrite(by="order_date"),
      unique_key=["order_date", "part"],
      sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
      effects=[
          slack("posted", url="${HOOK}", allow=["private", "http"],
                summary={"revenue": "sum(amount)", "best": "max_by(part, amount)"},
                text="Revenue of {ds}: {revenue} in {rows} parts, most in {best}"),
          http("told", url="${HOOK}/{part}", allow=["private", "http"], each="part",
               where="amount > 3000"),
      ])
def revenue(orders):
    return orders.groupBy(F.to_date("ordered_at").alias("order_date"),
                          (F.hour("ordered_at") / 6).cast("int").alias("part")).agg(
        F.sum("amount").cast("decimal(12,2)").alias("amount"),
        F.max("ordered_at").alias("last"))
"""


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpReceiver]:
    """A receiver whose address is in the environment."""
    receiver = HttpReceiver()
    monkeypatch.setenv("HOOK", receiver.url)
    yield receiver
    receiver.close()


def test_effects_tell_of_the_committed_rows_once(shop: Bench, web: HttpReceiver) -> None:
    """A summary and single rows, with exact numbers; a second run sends nothing."""
    shop.python(REVENUE, "revenue")
    shop.ok("2026-04-25", select=("revenue",))
    (again,) = shop.ok("2026-04-25", select=("revenue",))
    posts = [body for path, _, body in web.requests if path == "/hook"]
    (total,) = shop.rows("SELECT sum(amount) FROM lake.shop.revenue")
    assert posts == [{"text": f"Revenue of 2026-04-25: {total[0]} in 4 parts, most in 3"}]
    told = {path: body for path, _, body in web.requests if path != "/hook"}
    expected = shop.rows("SELECT part FROM lake.shop.revenue WHERE amount > 3000")
    assert sorted(told) == sorted(f"/hook/{part}" for (part,) in expected)
    row = told["/hook/3"]
    assert row["order_date"] == "2026-04-25"
    assert row["last"] == "2026-04-25T23:50:00.000000Z"
    assert again.effects is not None
    assert "not sent again" in again.effects.words()


def test_a_day_that_changed_is_reported_and_not_posted_again(
    shop: Bench, web: HttpReceiver
) -> None:
    """`changed since sent`: the run warns, with the command that would send it."""
    shop.python(REVENUE, "revenue")
    shop.ok("2026-04-25", select=("revenue",))
    before = len(web.requests)
    shop.spark.sql("DELETE FROM lake.raw.orders WHERE order_id % 2 = 0")
    (again,) = shop.ok("2026-04-25", select=("revenue",))
    assert any("changed since sent" in warning for warning in again.warnings)
    assert len([path for path, _, _ in web.requests[before:] if path == "/hook"]) == 0


def test_a_sql_task_has_effects_too(shop: Bench, web: HttpReceiver) -> None:
    """The header names a receiver and its words."""
    shop.sql(
        """
        /*
        target: lake.shop.daily
        grain: day
        write: {overwrite: {by: day}}
        sources: {raw: {table: lake.raw.orders, event_time: ordered_at}}
        effects:
          posted:
            slack:
              url: ${HOOK}
              allow: [private, http]
              text: "{rows} orders on {ds}"
        */
        SELECT to_date(ordered_at) AS day, order_id FROM raw
        """,
        "daily",
    )
    shop.ok("2026-04-25", select=("daily",))
    shop.ok("2026-04-25", select=("daily",))
    assert [body for _, _, body in web.requests] == [{"text": "144 orders on 2026-04-25"}]


def test_more_rows_than_the_limit_fail_the_run_and_send_nothing(
    shop: Bench, web: HttpReceiver
) -> None:
    """The limit is asked of Spark: a table of millions is not collected to find out."""
    shop.python(REVENUE.replace('each="part",', 'each="part", limit=1,'), "revenue")
    error = shop.error("2026-04-25", select=("revenue",))
    assert "more than 1 rows" in error.message
    assert web.requests == []


def test_a_merge_must_say_which_rows_its_effect_is_about(shop: Bench) -> None:
    """A merged table does not tell which rows a window brought."""
    from setpoint.errors import ProjectError

    shop.python(
        """
        @task(target="lake.shop.latest", grain="day", write=merge(on=["order_id"]),
              sources={"raw": Source("lake.raw.orders", event_time="ordered_at")},
              effects=[call("ring", print, each="order_id")])
        def latest(raw):
            return raw
        """,
        "latest",
    )
    with pytest.raises(ProjectError) as refused:
        shop.run("2026-04-25", select=("latest",))
    assert "a merge owns no window" in str(refused.value.faults)


@pytest.fixture(params=["sqlite", "postgres"])
def booking(request: pytest.FixtureRequest) -> Iterator[tuple[Any, str]]:
    """A connection to a database with a table of bookings, and the statement that fills it."""
    if request.param == "sqlite":
        connection: Any = sqlite3.connect(":memory:")
        values = "json_extract(event, '$.id'), json_extract(event, '$.qty')"
    else:
        server: PostgresServer = request.getfixturevalue("server")
        connection = psycopg.connect(server.url, password=server.password, autocommit=True)
        values = "(event->>'id')::int, (event->>'qty')::int"
    connection.execute("CREATE TEMPORARY TABLE booking (id INTEGER, qty INTEGER)")
    connection.commit()
    yield connection, f"INSERT INTO booking SELECT {values} FROM fresh_events"
    connection.close()


def test_a_batch_is_processed_once_in_the_transaction_of_its_work(
    bench: Bench, booking: tuple[Any, str]
) -> None:
    """Repeats of an earlier batch and within one are dropped; failed work keeps no key (I3)."""
    connection, statement = booking
    store = ProcessedEvents(connection, table="processed_bookings")
    store.create()

    def book(cursor: Any) -> None:
        cursor.execute(statement)

    def break_down(cursor: Any) -> None:
        book(cursor)
        raise ValueError("half way")

    batch = bench.spark.sql("SELECT id, id * 2 AS qty FROM range(5)")
    with pytest.raises(ValueError, match="half way"):
        process_once(batch, store, break_down, key="id")
    assert process_once(batch.union(batch), store, book, key="id") == 5
    assert process_once(batch, store, book, key="id") == 0
    more = bench.spark.sql("SELECT id, id * 2 AS qty FROM range(3, 8)")
    assert process_once(more, store, book, key="id") == 3
    rows = connection.execute("SELECT id, qty FROM booking ORDER BY id").fetchall()
    assert rows == [(n, n * 2) for n in range(8)]


def test_levels_count_each_adjustment_once(bench: Bench) -> None:
    """Opening plus adjustments; a repeated one counts once, a torn one stops the job (I4)."""
    spark = bench.spark
    made = (
        "SELECT * FROM VALUES ('a1','bolt',-3), ('a2','bolt',-4), ('a1','bolt',-3), ('a3','nut',1)"
    )
    adjustments = spark.sql(f"{made} AS t(id, sku, delta)")
    opening = spark.sql("SELECT * FROM VALUES ('bolt', 100), ('gear', 7) AS t(sku, qty)")
    found = levels(adjustments, by="sku", key="id", opening=opening)
    assert sorted(tuple(row) for row in found.collect()) == [("bolt", 93), ("gear", 7), ("nut", 1)]
    torn = adjustments.union(spark.sql("SELECT 'a1', 'bolt', -5"))
    with pytest.raises(Exception, match="adjustment a1 has two deltas"):
        levels(torn, by="sku", key="id").collect()
