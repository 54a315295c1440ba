"""What before/ breaks stays right in after/: the same jobs, run for real on the same shop."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import psycopg
import pytest
from examples.shop import company
from tests.shop.conftest import DAY, SIZE, opened
from tests.shop.test_before import CUT_AT, OF_DAY, REPAIR

from setpoint import ProcessedEvents, once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.postgres_server import PostgresServer
    from tests.shop.conftest import Shop

pytestmark = pytest.mark.process
AFTER = Path(__file__).parents[2] / "examples" / "shop" / "after"
NEXT = "2026-04-22"
END = "2026-04-23"
SERVED = (
    "SELECT * FROM serving.daily_customer_summary ORDER BY order_date, customer_id",
    "SELECT * FROM serving.revenue_daily ORDER BY revenue_key",
    "SELECT * FROM serving.stock ORDER BY sku",
    "SELECT * FROM serving.customers ORDER BY customer_id",
)
Results = dict[tuple[str, str | None], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the runs said, and what the dashboards showed after each."""

    shop: Shop
    cut: Results
    """O1, with the connection cut at the 101st order."""
    first: Results
    """All tasks, two days."""
    again: Results
    """All tasks, the older of the two days once more."""
    served_first: list[list[tuple[Any, ...]]]
    served_again: list[list[tuple[Any, ...]]]


class Runs:
    """A process that runs the project as often as it is asked."""

    def __init__(self, process: subprocess.Popen[str], stdin: IO[str], stdout: IO[str]) -> None:
        self._process, self._stdin, self._stdout = process, stdin, stdout

    def __call__(self, **options: Any) -> Results:
        """Run, and gather the results by task and window."""
        self._stdin.write(json.dumps(options) + "\n")
        self._stdin.flush()
        line = self._stdout.readline()
        assert line, self._process.communicate()[1]
        return {(one["task"], one["window_start"]): one for one in json.loads(line)}


@contextmanager
def project(shop: Shop, folder: Path) -> Iterator[Runs]:
    """A copy of the project, and a process that runs it."""
    shutil.copytree(AFTER, folder, ignore=shutil.ignore_patterns(".setpoint", "warehouse"))
    with subprocess.Popen(
        [sys.executable, "-m", "tests.shop.after_runs", str(folder)],
        cwd=Path(__file__).parents[2],
        env=shop.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        yield Runs(process, process.stdin, process.stdout)
        process.stdin.write("\n")


@pytest.fixture(scope="module")
def told(
    server: PostgresServer, filled: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Told]:
    """A night at the shop: a crash and its retry, a second day, a backfill of the first."""
    folder = tmp_path_factory.mktemp("after")
    with opened(server, filled, folder / "lake") as shop, project(shop, folder / "shop") as run:
        number = (
            "SELECT order_id FROM shop.orders WHERE " + OF_DAY + " ORDER BY 1 OFFSET 100 LIMIT 1"
        )
        shop.sql(CUT_AT.format(shop.one(number, DAY)))
        cut = run(select=["orders"], ds=DAY)
        shop.sql(REPAIR)
        shop.api.faults.extend([503, 429])
        first = run(start=DAY, end=END)
        served_first = [shop.sql(query) for query in SERVED]
        again = run(ds=DAY)
        served_again = [shop.sql(query) for query in SERVED]
        yield Told(
            shop=shop, cut=cut, first=first, again=again,
            served_first=served_first, served_again=served_again,
        )  # fmt: skip


def of(results: Results, task: str, day: str | None = DAY) -> dict[str, Any]:
    """What came of a task on a day."""
    return results[task, f"{day}T00:00:00Z" if day else None]


def test_every_task_of_the_graph_succeeds(told: Told) -> None:
    """B6: raw, curated, dimension and serving mart in one run."""
    for results in (told.first, told.again):
        assert {one["state"] for one in results.values()} == {"succeeded"}
    assert len({task for task, _ in told.first}) == 13


def test_a_second_run_of_an_old_day_leaves_every_table_as_it_was(told: Told) -> None:
    """A1, A3: the same checksum for each table of the day, and the same rows on the dashboards."""
    for (task, day), result in told.again.items():
        if task != "dim_customer":  # a merge owns no window; its table is compared below
            assert result["checksum"] == told.first[task, day]["checksum"], task
    last = of(told.first, "dim_customer", NEXT)
    assert of(told.again, "dim_customer")["checksum"] == last["checksum"]
    assert told.served_again == told.served_first


def test_o1_a_copy_that_died_leaves_nothing_and_its_retry_all(told: Told) -> None:
    """The connection is cut at the 101st of 120 orders; 120 are there in the end."""
    assert of(told.cut, "orders")["state"] == "failed"
    assert of(told.first, "orders")["rows"] == SIZE.orders_a_day
    assert of(told.first, "orders")["checksum"].startswith(f"ck1:{SIZE.orders_a_day}:")


def test_o2_the_summary_holds_the_days_revenue_once(told: Told) -> None:
    """Two runs of the day, one row a customer."""
    query = "SELECT sum(revenue) FROM serving.daily_customer_summary WHERE order_date = %s"
    right = told.shop.one("SELECT sum(amount) FROM shop.orders WHERE " + OF_DAY, DAY)
    assert told.shop.one(query, DAY) == right


def test_o3_payments_of_the_day_and_no_others_through_busy_hours(told: Told) -> None:
    """A 503 and a 429 are waited out; the window is the day's, whatever the clock says."""
    days = [
        datetime.fromtimestamp(one.created, timezone.utc).date().isoformat()
        for one in company.payments(SIZE)
    ]
    for day in (DAY, NEXT):
        assert of(told.first, "fct_payments", day)["rows"] == days.count(day)
    assert {503, 429} < set(told.shop.api.answers)


def test_o4_the_newest_change_of_each_customer_is_shown(told: Told) -> None:
    """Repeats, a late change, deletes, and the older day merged again: the log's own order wins."""
    newest: dict[int, company.Change] = {}
    for change in sorted(company.changes(SIZE)):
        if change.delivered_at.date().isoformat() in {DAY, NEXT}:
            newest[change.customer_id] = change
    right = {n: one.email for n, one in newest.items() if one.op != "D"}
    assert len(right) < len(newest)
    shown = dict(told.shop.sql("SELECT customer_id, email FROM serving.customers"))
    assert shown == right


def test_o5_users_are_counted_by_calendar_day(told: Told) -> None:
    """One row a day; its checksum is that of the second run too."""
    assert of(told.first, "daily_active_users")["rows"] == 1
    assert of(told.again, "daily_active_users")["checksum"].startswith("ck1:1:")


def test_o6_revenue_keeps_its_keys_and_is_posted_once_a_day(told: Told) -> None:
    """Four regions a day, each under the key that it had; the chat hears of each day once."""
    first, again = (
        {row[0] for row in served[1]} for served in (told.served_first, told.served_again)
    )
    assert first == again
    assert len(first) == 8
    totals = dict(
        told.shop.sql("SELECT order_date::text, sum(revenue) FROM serving.revenue_daily GROUP BY 1")
    )
    right = [{"text": f"Revenue of {day}: {totals[day]:,.2f}"} for day in (DAY, NEXT)]
    assert told.shop.receivers.posts_to("/slack") == right


def test_o7_rows_numbers_stock_and_mail_are_those_of_one_booking(told: Told) -> None:
    """Booked twice: the day's rows once, their numbers unchanged, stock and mail as after one."""
    booked, again = (of(one, "daily_inventory_adjustments") for one in (told.first, told.again))
    moved = told.shop.one(
        "SELECT sum(delta) FROM shop.inventory_movements"
        " WHERE (moved_at AT TIME ZONE 'UTC')::date IN (%s, %s)",
        DAY,
        NEXT,
    )
    change = told.shop.one(
        "SELECT (SELECT sum(qty) FROM serving.stock) - (SELECT sum(qty) FROM shop.opening_stock)"
    )
    mails = [f"Subject: Inventory of {day}: {SIZE.movements_a_day}" for day in (DAY, NEXT)]
    heard = ["".join(told.shop.receivers.mails).count(subject) for subject in mails]
    assert (again["rows"], again["checksum"], change, heard, len(told.shop.receivers.mails)) == (
        SIZE.movements_a_day,
        booked["checksum"],
        moved,
        [1, 1],
        2,
    )


def test_o8_a_day_of_events_is_set_whole(told: Told) -> None:
    """Replaced in one commit, with the same rows."""
    for results in (told.first, told.again):
        assert of(results, "events")["rows"] == SIZE.events_a_day


def test_o8_each_purchase_is_published_once_and_a_consumer_drops_repeats(told: Told) -> None:
    """Two days run, one of them twice: a record a purchase; delivered twice, worked on once."""
    records = [
        body["records"][0] for body in told.shop.receivers.posts_to("/topics/shop.purchases")
    ]
    purchases = told.shop.sql(
        "SELECT event_id FROM shop.events WHERE kind = 'purchase'"
        " AND (occurred_at AT TIME ZONE 'UTC')::date IN (%s, %s) ORDER BY 1",
        DAY,
        NEXT,
    )
    assert sorted(record["key"] for record in records) == [number for (number,) in purchases]
    with psycopg.connect(told.shop.url) as connection:
        connection.execute("CREATE TABLE recommended (event_id bigint)")
        store = ProcessedEvents(connection)
        store.create()
        for record in [*records, *records]:

            def recommend(cursor: Any, record: Any = record) -> None:
                number = record["value"]["event_id"]
                cursor.execute("INSERT INTO recommended VALUES (%s)", (number,))

            once(str(record["key"]), store)(recommend)
        connection.commit()
    assert told.shop.one("SELECT count(*) FROM recommended") == len(purchases)
