"""A slice of a Postgres table is set: once, twice or ten times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.engine.protocol import Token
from setpoint.errors import CommitConflict, GateFailed, ResultMisshapen
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from tests.spark.postgres.conftest import Mart

    from setpoint.engine.spark.postgres.staging import Staging
    from setpoint.model.plan import Step

pytestmark = pytest.mark.spark


def _step(mart: Mart, ds: str = "2026-04-25") -> Step:
    return make_plan(load_project(mart.root).graph, select=(), dates=Dates(ds=ds)).steps[-1]


@pytest.mark.usefixtures("path")
def test_ten_runs_leave_the_same_rows(shop: Mart) -> None:
    """A1: the same count and checksum, by whichever way the rows travel; no staging stays."""
    results = [shop.ok("2026-04-25", checksum=True)[0] for _ in range(3)]
    assert [(r.rows, r.replaced) for r in results] == [(12, 0), (12, 12), (12, 12)]
    assert len({result.checksum for result in results}) == 1
    assert shop.pg("SELECT count(*), sum(orders), sum(revenue) FROM daily") == [
        (12, 144, sum(range(144, 288)))
    ]
    assert shop.staging() == []


def test_neighbours_stay_and_an_empty_day_is_emptied(shop: Mart) -> None:
    """A5, scenario 24: other days stay as they are, and a day without rows is emptied."""
    shop.ok(start="2026-04-24", end="2026-04-27")
    shop.spark.sql("DELETE FROM lake.raw.orders WHERE date(ordered_at) = DATE '2026-04-25'")
    result = shop.ok("2026-04-25")[0]
    assert (result.rows, result.replaced) == (0, 12)
    days = shop.pg("SELECT order_date::text, count(*) FROM daily GROUP BY 1 ORDER BY 1")
    assert days == [("2026-04-24", 12), ("2026-04-26", 12)]


def test_a_missing_table_is_created_with_its_key(shop: Mart) -> None:
    """The unique key is the primary key, and windows are found by an index."""
    shop.ok("2026-04-25")
    columns = dict(
        shop.pg(
            "SELECT column_name::text, data_type FROM information_schema.columns "
            "WHERE table_name = 'daily'"
        )
    )
    assert columns == {
        "order_date": "date",
        "customer": "bigint",
        "orders": "bigint",
        "revenue": "numeric",
    }
    ((definition,),) = shop.pg("SELECT indexdef FROM pg_indexes WHERE tablename = 'daily'")
    assert "UNIQUE INDEX daily_pkey" in definition
    assert "(order_date, customer)" in definition


def test_an_existing_table_is_never_altered(shop: Mart) -> None:
    """Scenario 31: another column or a type that would lose something is refused, with words."""
    shop.pg("CREATE TABLE daily (order_date date, customer bigint, orders bigint, note text)")
    error = shop.error("2026-04-25")
    assert isinstance(error, ResultMisshapen)
    assert error.facts["missing"] == "note"
    shop.pg("ALTER TABLE daily DROP COLUMN note, ADD COLUMN revenue numeric(10, 0)")
    error = shop.error("2026-04-25")
    assert isinstance(error, ResultMisshapen)
    assert "numeric(10,0)" in error.message
    shop.pg("ALTER TABLE daily ALTER COLUMN revenue TYPE numeric")
    assert shop.ok("2026-04-25")[0].rows == 12


@pytest.mark.usefixtures("path")
def test_a_gate_fires_before_anything_is_visible(shop: Mart) -> None:
    """C4: a failing check stops the copy; the old rows stay, and so does no staging table."""
    shop.ok("2026-04-25")
    shop.sql(
        """
        /*
        target: mart.public.daily
        name: daily
        grain: day
        write: {replace: {by: order_date}}
        unique_key: [order_date, customer]
        sources:
          raw: {table: lake.raw.orders, event_time: ordered_at}
        */
        SELECT to_date(ordered_at) AS order_date, order_id % 12 AS customer, 1L AS orders,
               amount AS revenue
        FROM raw
        """,
        "daily",
    )
    (shop.root / "pipelines" / "tasks.py").unlink()
    error = shop.error("2026-04-25")
    assert isinstance(error, GateFailed)
    assert (error.gate, len(error.samples)) == ("unique", 5)
    assert shop.pg("SELECT count(*), sum(orders) FROM daily") == [(12, 144)]
    assert shop.staging() == []


def test_a_key_of_another_window_is_refused(shop: Mart) -> None:
    """The primary key covers what is in the table already; the sample key is shown."""
    shop.python("""
        @task(target="mart.public.last", grain="day", write=replace(by="day"), unique_key="one",
              sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
        def last(raw):
            return raw.select(F.to_date("ordered_at").alias("day"), F.lit(1).alias("one")).limit(1)
    """)
    shop.ok("2026-04-25")
    error = shop.error("2026-04-26")
    assert isinstance(error, GateFailed)
    assert error.samples == ("one=1",)
    assert shop.pg("SELECT day::text FROM last") == [("2026-04-25",)]


def test_replace_sets_the_whole_table(mart: Mart) -> None:
    """B4: without a window the whole table is set."""
    mart.table("lake.raw.regions", "SELECT id, 'r' || id AS name FROM range(5)")
    mart.python("""
        @task(target="mart.serving.regions", unique_key="id",
              sources={"raw": Source("lake.raw.regions", static=True)})
        def regions(raw):
            return raw
    """)
    assert [mart.ok()[0].rows for _ in range(2)] == [5, 5]
    mart.spark.sql("DELETE FROM lake.raw.regions WHERE id > 1")
    assert mart.ok()[0].rows == 2
    assert mart.pg("SELECT name FROM serving.regions ORDER BY id") == [("r0",), ("r1",)]


def test_scenario_4_a_commit_that_the_ledger_missed_is_adopted(shop: Mart) -> None:
    """A2: the token is in the same transaction as the rows; the next attempt finds it."""
    step = _step(shop)
    assert step.window is not None
    started = shop.ledger.begin(
        step.task.name,
        step.window.start,
        step.window.end,
        target=str(step.task.target),
        fingerprint=step.task.fingerprint,
        pid=1,
        host="gone",
    )
    token = Token(run_id=started.run_id, fence=started.fence)
    committed = shop.engine.carry_out(step.task, step.window, token)
    result = shop.ok("2026-04-25")[0]
    assert result.adopted
    assert (result.run_id, result.snapshot) == (started.run_id, committed.snapshot)
    assert shop.pg("SELECT count(*) FROM setpoint.commits") == [(1,)]


def test_an_attempt_with_an_older_fence_is_refused(shop: Mart) -> None:
    """Scenario 14: who wakes late finds that a newer attempt has set the scope."""
    step = _step(shop)
    shop.engine.carry_out(step.task, step.window, Token(run_id="new", fence=7))
    with pytest.raises(CommitConflict, match="fence 7"):
        shop.engine.carry_out(step.task, step.window, Token(run_id="old", fence=6))
    other = _step(shop, "2026-04-26")
    shop.engine.carry_out(other.task, other.window, Token(run_id="other", fence=6))
    assert shop.pg("SELECT count(*), sum(orders) FROM daily") == [(24, 288)]
    assert shop.staging() == []


def test_only_attempts_that_the_result_names_are_taken(
    shop: Mart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark may run a partition twice: rows of an attempt that lost are never inserted."""
    from setpoint.engine.spark.postgres import copying
    from setpoint.engine.spark.postgres import target as module

    def twice(sent: DataFrame, rows: object, staging: Staging) -> copying.Copied:
        assert rows is None
        first = copying.copy_from_workers(sent, staging)
        second = copying.copy_from_workers(sent, staging)
        assert not set(first.attempts) & set(second.attempts)
        return second

    monkeypatch.setattr(copying, "SMALL_BYTES", -1)
    monkeypatch.setattr(module, "copy", twice)
    assert shop.ok("2026-04-25")[0].rows == 12
    assert shop.pg("SELECT count(*), sum(orders) FROM daily") == [(12, 144)]


NARROW = """
@task(target="mart.public.narrow", grain="day", write=replace(by="day"), unique_key="order_id",
      sources={{"raw": Source("lake.raw.orders", event_time="ordered_at")}})
def narrow(raw):
    return raw.select(F.to_date("ordered_at").alias("day"), {key})
"""


@pytest.mark.usefixtures("path")
def test_the_tables_own_index_is_the_gate_on_its_key(shop: Mart) -> None:
    """C4: no shuffle for it; a repeated key stops the transaction, with the keys that repeat."""
    shop.python(NARROW.format(key='"order_id"'))
    assert shop.ok("2026-04-25")[0].rows == 144
    shop.python(NARROW.format(key='F.expr("order_id - order_id % 2").alias("order_id")'))
    error = shop.error("2026-04-25")
    assert isinstance(error, GateFailed)
    assert (error.gate, len(error.samples)) == ("unique", 5)
    assert error.samples[0] == "order_id=144, rows=2"
    assert shop.pg("SELECT count(*), count(DISTINCT order_id) FROM narrow") == [(144, 144)]


@pytest.mark.parametrize(
    "change",
    [
        "SELECT 'no index at all'",
        "ALTER TABLE narrow ADD UNIQUE (order_id) DEFERRABLE INITIALLY DEFERRED",
        "CREATE UNIQUE INDEX ON narrow (order_id) WHERE order_id > 200",
    ],
)
def test_without_an_index_that_covers_it_the_key_is_checked_all_the_same(
    shop: Mart, change: str
) -> None:
    """C4: dropped, deferred or partial indexes are no gate; the Spark job is one then."""
    shop.python(NARROW.format(key='"order_id"'))
    shop.ok("2026-04-25")
    shop.pg("ALTER TABLE narrow DROP CONSTRAINT narrow_pkey")
    shop.pg(change)
    shop.python(NARROW.format(key='F.expr("order_id - order_id % 2").alias("order_id")'))
    error = shop.error("2026-04-25")
    assert isinstance(error, GateFailed)
    assert (error.gate, len(error.samples)) == ("unique", 5)
    assert shop.pg("SELECT count(*), count(DISTINCT order_id) FROM narrow") == [(144, 144)]


def test_a_table_behind_a_view_or_of_other_types_is_set_through_staging(shop: Mart) -> None:
    """What COPY cannot do or would not cast goes the longer way, to the same rows."""
    shop.pg("CREATE TABLE kept (day date, order_id numeric)")
    shop.pg("CREATE VIEW narrow AS SELECT * FROM kept")
    shop.python(NARROW.format(key='"order_id"'))
    assert [shop.ok("2026-04-25")[0].rows for _ in range(2)] == [144, 144]
    assert shop.pg("SELECT count(*), sum(order_id) FROM kept") == [(144, sum(range(144, 288)))]
    assert shop.staging() == []
