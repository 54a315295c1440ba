"""How each job of before/ breaks: run for real, twice, or stopped half-way and retried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.dataset as arrow
import pytest
from examples.shop import company, event_stream
from tests.shop.conftest import DAY, SIZE

if TYPE_CHECKING:
    from tests.shop.conftest import Shop

pytestmark = pytest.mark.process
OF_DAY = "(ordered_at AT TIME ZONE 'UTC')::date = %s"
CUT_AT = """
ALTER TABLE shop.orders RENAME TO stored_orders;
CREATE VIEW shop.orders AS SELECT * FROM shop.stored_orders
  WHERE order_id <> {} OR pg_terminate_backend(pg_backend_pid())
"""
REPAIR = "DROP VIEW shop.orders; ALTER TABLE shop.stored_orders RENAME TO orders"


def lake_rows(shop: Shop, table: str) -> int:
    """The rows of a table in the lake."""
    return int(arrow.dataset(shop.lake / table, partitioning="hive").count_rows())


def test_o1_the_copy_that_died_and_was_retried_holds_its_first_rows_twice(shop: Shop) -> None:
    """The connection is cut at the 101st of 120 rows: 100 are there, and the retry adds 120."""
    shop.sql("CREATE TABLE big AS SELECT order_id FROM shop.orders WHERE " + OF_DAY, DAY)
    cut = shop.one("SELECT order_id FROM big ORDER BY order_id OFFSET 100 LIMIT 1")
    shop.sql(CUT_AT.format(cut))
    died = shop.job("orders_copy.py", DAY)
    assert died.returncode != 0
    assert "terminating connection" in died.stderr
    assert lake_rows(shop, "orders") == 100
    shop.sql(REPAIR)
    shop.done("orders_copy.py", DAY)
    assert lake_rows(shop, "orders") == 220


def test_o2_a_second_run_doubles_revenue(shop: Shop) -> None:
    """Append: each customer has two rows, and the day twice its revenue."""
    right = shop.one("SELECT sum(amount) FROM shop.orders WHERE " + OF_DAY, DAY)
    shop.done("run_sql.py", "daily_customer_summary.sql", DAY)
    assert shop.one("SELECT sum(revenue) FROM mart.daily_customer_summary") == right
    shop.done("run_sql.py", "daily_customer_summary.sql", DAY)
    assert shop.one("SELECT sum(revenue) FROM mart.daily_customer_summary") == 2 * right


def test_o3_a_retry_past_midday_loads_another_window_and_some_payments_twice(shop: Shop) -> None:
    """The window is the clock's: nine hours later it holds other payments, and most again."""
    shop.done("fct_payments.py", at="2026-04-22T00:00:00+00:00")
    first = shop.one("SELECT count(*) FROM mart.fct_payments")
    shop.done("fct_payments.py", at="2026-04-22T09:00:00+00:00")
    rows, distinct, next_day = shop.sql(
        "SELECT count(*), count(DISTINCT payment_id),"
        " count(*) FILTER (WHERE created_at >= '2026-04-22T00:00Z') FROM mart.fct_payments"
    )[0]
    assert first == pytest.approx(SIZE.orders_a_day, abs=5)
    assert rows > distinct > first
    assert next_day > 0


def test_o3_a_backfill_of_an_old_day_cannot_be_asked_for(shop: Shop) -> None:
    """The job takes no date: run a month later, it finds nothing."""
    shop.done("fct_payments.py", DAY, at="2026-05-25T00:00:00+00:00")
    assert shop.one("SELECT count(*) FROM mart.fct_payments") == 0


def test_o3_a_provider_that_asks_to_wait_stops_the_job(shop: Shop) -> None:
    """A 429 in the middle of the pages is a failure of the whole run."""
    shop.api.faults.extend([429])
    assert "429" in shop.job("fct_payments.py", at="2026-04-22T00:00:00+00:00").stderr


def test_o4_customers_double_and_the_retry_fails(shop: Shop) -> None:
    """A change delivered twice is inserted twice; the next MERGE finds two rows for it."""
    first = str(SIZE.first_day)
    shop.done("run_sql.py", "dim_customer.sql", first)
    rows, customers = shop.sql(
        "SELECT count(*), count(DISTINCT customer_id) FROM mart.dim_customer"
    )[0]
    assert customers == SIZE.customers
    assert rows == SIZE.customers + SIZE.customers // company.TWICE_EVERY
    retried = shop.job("run_sql.py", "dim_customer.sql", first)
    assert "cannot affect row a second time" in retried.stderr


def test_o4_late_changes_and_deletes_leave_the_wrong_customers(shop: Shop) -> None:
    """Even without repeats: an older change that came later wins, and who left is still there."""
    shop.sql(
        "DELETE FROM shop.customer_changes a USING shop.customer_changes b"
        " WHERE a.seq = b.seq AND a.delivered_at > b.delivered_at"
    )
    shop.sql("DELETE FROM shop.customer_changes WHERE delivered_at::date > '2026-04-23'")
    # A day with two changes of one customer stops the MERGE; only the last of each is left.
    shop.sql(
        "DELETE FROM shop.customer_changes a USING shop.customer_changes b"
        " WHERE a.customer_id = b.customer_id AND a.seq > b.seq AND b.op = 'U'"
        " AND a.delivered_at::date = b.delivered_at::date"
    )
    for day in SIZE.calendar():
        shop.done("run_sql.py", "dim_customer.sql", str(day))
    shown = dict(shop.sql("SELECT customer_id, email FROM mart.dim_customer"))
    right = company.last_images(SIZE)
    assert set(shown) > set(right)
    older = [n for n, image in right.items() if shown[n] != image.email]
    assert older
    assert all(n % company.LATE_EVERY == 0 for n in older)


def test_o5_a_backfilled_day_gets_todays_users(shop: Shop) -> None:
    """Under the date of an old day stand those who were active in the last 24 hours: nobody."""
    event_stream.land(shop.lake, SIZE)
    shop.done("daily_active_users.py", DAY)
    table = arrow.dataset(shop.lake / "daily_active_users").to_table().to_pylist()
    right = shop.one(
        "SELECT count(DISTINCT user_id) FROM shop.events"
        " WHERE (occurred_at AT TIME ZONE 'UTC')::date = %s",
        DAY,
    )
    assert right > 0
    assert table == [{"active_users": 0, "activity_date": DAY}]


def test_o6_keys_change_revenue_doubles_and_the_chat_hears_it_twice(shop: Shop) -> None:
    """No row of the second run has the key that it had in the first."""
    shop.done("revenue_daily.py", DAY)
    first = {key for (key,) in shop.sql("SELECT revenue_key FROM mart.revenue_daily")}
    right = shop.one("SELECT sum(revenue) FROM mart.revenue_daily")
    shop.done("revenue_daily.py", DAY)
    both = {key for (key,) in shop.sql("SELECT revenue_key FROM mart.revenue_daily")}
    assert len(first) == 4
    assert len(both) == 8
    assert shop.one("SELECT sum(revenue) FROM mart.revenue_daily") == 2 * right
    posts = shop.receivers.posts_to("/slack")
    assert len(posts) == 2
    assert posts[0] == posts[1] == {"text": f"Revenue of {DAY}: {right:,.2f}"}


def test_o7_rows_numbers_stock_and_mail_are_all_wrong_after_a_second_run(shop: Shop) -> None:
    """One day booked twice: twice the rows, new numbers, stock taken twice, two mails."""
    delta = shop.one(
        "SELECT sum(delta) FROM shop.inventory_movements"
        " WHERE (moved_at AT TIME ZONE 'UTC')::date = %s",
        DAY,
    )
    opening = shop.one("SELECT sum(qty) FROM shop.opening_stock")
    for _ in range(2):
        shop.done("daily_inventory_adjustments.py", DAY)
    rows, last = shop.sql("SELECT count(*), max(txn_id) FROM mart.daily_inventory_adjustments")[0]
    stock = shop.one("SELECT sum(qty) FROM mart.stock")
    assert (rows, last, stock - opening, len(shop.receivers.mails)) == (
        2 * SIZE.movements_a_day,
        2 * SIZE.movements_a_day,
        2 * delta,
        2,
    )
    assert delta != 0


def test_o8_a_day_that_was_deleted_and_not_yet_written_is_gone(shop: Shop) -> None:
    """The connection is cut between delete and insert: the day's events are missing."""
    shop.done("events_rewrite.py", DAY)
    assert shop.one("SELECT count(*) FROM mart.events") == SIZE.events_a_day
    shop.sql(CUT_AT.replace("orders", "events").replace("order_id", "event_id").format(100))
    assert shop.job("events_rewrite.py", DAY).returncode != 0
    assert shop.one("SELECT count(*) FROM mart.events") == 0


def test_o8_the_publisher_tells_of_each_purchase_twice(shop: Shop) -> None:
    """Records without a key: a second run publishes all of them again."""
    for _ in range(2):
        shop.done("event_publisher.py", DAY)
    told = [
        body["records"][0]["value"]["event_id"]
        for body in shop.receivers.posts_to("/topics/shop.purchases")
    ]
    assert len(set(told)) > 0
    assert len(told) == 2 * len(set(told))
