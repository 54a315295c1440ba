"""A run sets its window: once, twice or ten times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.spark.targets import target_of

from setpoint.engine.protocol import Token
from setpoint.errors import CommitConflict, ResultMisshapen
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from tests.spark.conftest import Bench

    from setpoint.engine.spark.target import Writing

pytestmark = pytest.mark.spark
TARGET = "lake.shop.orders"


def test_ten_runs_leave_the_same_rows(shop: Bench) -> None:
    """A1: the same count and content checksum, however often a window is run."""
    results = [shop.ok("2026-04-25", checksum=True)[0] for _ in range(10)]
    assert {result.rows for result in results} == {144}
    assert len({result.checksum for result in results}) == 1
    assert shop.count(TARGET) == 144


def test_an_old_day_is_replaced_and_its_neighbours_stay(shop: Bench) -> None:
    """A3, A5: nothing doubled, nothing lost, other windows equal by checksum."""
    first = shop.ok(start="2026-04-24", end="2026-04-27", checksum=True)
    shop.table("lake.raw.orders", "SELECT * FROM (" + ORDERS_CHANGED + ")")
    again = shop.ok("2026-04-25", checksum=True)[0]
    assert again.rows == 72
    assert again.replaced == 144
    engine, graph = shop.engine, load_project(shop.root).graph
    plan = make_plan(graph, select=(), dates=Dates(start="2026-04-24", end="2026-04-27"))
    now = [engine.checksum(step.task, step.window, None) for step in plan.steps]
    assert [now[0], now[2]] == [first[0].checksum, first[2].checksum]
    assert now[1] == again.checksum != first[1].checksum


ORDERS_CHANGED = """
SELECT id * 2 AS order_id, CAST(id AS DECIMAL(10,2)) AS amount,
       timestamp_seconds(unix_seconds(TIMESTAMP '2026-04-24 00:00:00Z') + id * 1200) AS ordered_at
FROM range(216)
"""


def test_scenario_24_a_window_that_became_empty_is_emptied(shop: Bench) -> None:
    """B1: no stale rows stay behind, which dynamic overwrite would leave."""
    shop.ok(start="2026-04-24", end="2026-04-26")
    shop.spark.sql("DELETE FROM lake.raw.orders WHERE date(ordered_at) = DATE '2026-04-25'")
    result = shop.ok("2026-04-25")[0]
    assert (result.rows, result.replaced) == (0, 144)
    assert shop.count(TARGET, "order_date = DATE '2026-04-25'") == 0
    assert shop.count(TARGET) == 144


def test_an_empty_result_over_an_empty_window_is_recorded(shop: Bench) -> None:
    """A day without orders is a success with no rows, and leaves a commit to recognise."""
    result = shop.ok("2026-03-01")[0]
    assert (result.rows, result.state) == (0, "succeeded")
    assert result.snapshot is not None


def test_replace_sets_the_whole_table(bench: Bench) -> None:
    """B4: a small table is set as a whole, and a static source is read whole."""
    bench.table("lake.raw.regions", "SELECT id, 'r' || id AS name FROM range(5)")
    bench.python("""
        @task(target="lake.shop.regions", unique_key="id",
              sources={"raw": Source("lake.raw.regions", static=True)})
        def regions(raw):
            return raw
    """)
    assert [bench.ok()[0].rows for _ in range(2)] == [5, 5]
    bench.spark.sql("DELETE FROM lake.raw.regions WHERE id > 1")
    assert bench.ok()[0].rows == 2
    assert bench.count("lake.shop.regions") == 2


def test_a_commit_carries_the_run_and_its_fence(shop: Bench) -> None:
    """The token is inside the table's own commit, beside the counts of each partition."""
    result = shop.ok("2026-04-25")[0]
    ((summary,),) = shop.rows(
        f"SELECT summary FROM {TARGET}.snapshots WHERE snapshot_id = {result.snapshot}"
    )
    assert summary["setpoint.run-id"] == result.run_id
    assert int(summary["setpoint.fence"]) > 0
    (run,) = shop.ledger.runs()
    assert run.detail["partitions"] == {"order_date=2026-04-25": 144}
    assert set(run.detail["inputs"]) == {"lake.raw.orders"}  # type: ignore[arg-type]


def test_scenario_4_a_commit_that_the_ledger_missed_is_adopted(shop: Bench) -> None:
    """A2: killed between commit and ledger, the next attempt writes nothing again."""
    task = load_project(shop.root).graph.task("orders")
    assert task.grain is not None
    plan = make_plan(load_project(shop.root).graph, select=(), dates=Dates(ds="2026-04-25"))
    window = plan.steps[0].window
    assert window is not None
    started = shop.ledger.begin(
        task.name,
        window.start,
        window.end,
        target=str(task.target),
        fingerprint=task.fingerprint,
        pid=1,
        host="gone",
    )
    committed = shop.engine.carry_out(
        task, window, Token(run_id=started.run_id, fence=started.fence)
    )
    result = shop.ok("2026-04-25")[0]
    assert result.adopted
    assert (result.run_id, result.snapshot) == (started.run_id, committed.snapshot)
    assert shop.count(f"{TARGET}.snapshots") == 1
    assert not shop.ok("2026-04-25")[0].adopted


def test_a_commit_that_was_rolled_back_is_not_adopted(shop: Bench) -> None:
    """It is still among the table's snapshots, but no reader sees its rows."""
    before, after = shop.ok("2026-04-24") + shop.ok("2026-04-25")
    task = after.step.task
    assert shop.engine.find_commit(task, after.run_id or "") is not None
    shop.spark.sql(f"CALL lake.system.rollback_to_snapshot('shop.orders', {before.snapshot})")
    assert shop.engine.find_commit(task, after.run_id or "") is None
    assert shop.engine.find_commit(task, before.run_id or "") is not None


def test_the_history_is_one_however_it_is_read(
    shop: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the metadata file no question to Spark; from Spark one, and the same commits."""
    from setpoint.engine.spark.iceberg import IcebergTarget

    before, after = shop.ok("2026-04-24") + shop.ok("2026-04-25")
    shop.spark.sql(f"CALL lake.system.rollback_to_snapshot('shop.orders', {before.snapshot})")
    shop.spark.sql(f"INSERT INTO {TARGET} SELECT * FROM {TARGET} LIMIT 1")
    ours = shop.ok("2026-04-24")[0]
    embedded = target_of(shop, TARGET)
    asked_for = IcebergTarget(shop.spark, ours.step.task.target)
    kind = type(shop.spark)
    ask, asked = kind.sql, []

    def noting(self: Any, text: str, *given: Any, **options: Any) -> Any:
        asked.append(text.split(maxsplit=1)[0])
        return ask(self, text, *given, **options)

    monkeypatch.setattr(kind, "sql", noting)
    assert shop.engine.find_commit(ours.step.task, ours.run_id or "") is not None
    assert asked == ["DESCRIBE"]  # of the source, whether it is as it was
    asked.clear()
    found = embedded.commit(ours.run_id or "")
    assert asked == []
    assert asked_for.commit(ours.run_id or "") == found
    assert asked == ["SELECT"]
    assert found is not None
    assert found.rows == 144
    assert asked_for.marks() == embedded.marks()
    assert [mark.run_id for mark in embedded.marks()] == [before.run_id, ours.run_id]
    for target in (embedded, asked_for):
        assert target.strangers_since(before.snapshot)
        assert not target.strangers_since(ours.snapshot)
        assert target.commit(after.run_id or "") is None


def test_scenario_19_a_foreign_write_to_the_window_is_a_conflict(shop: Bench) -> None:
    """Somebody wrote the same day after the run read it: refused, and another day is not."""
    from setpoint.engine.spark.iceberg import IcebergTarget
    from setpoint.engine.spark.target import Writing

    shop.ok(start="2026-04-24", end="2026-04-26")
    task = load_project(shop.root).graph.task("orders")
    target = IcebergTarget(shop.spark, task.target)
    state = target.state()
    assert state is not None

    def write(frame: DataFrame, scope: str) -> None:
        token = Token(run_id="late", fence=1)
        target.write(Writing(task=task, frame=frame, scope=scope, token=token, state=state))

    shop.spark.sql(
        f"INSERT INTO {TARGET} SELECT order_id + 9000, amount, ordered_at, order_date "
        f"FROM {TARGET} WHERE order_date = DATE '2026-04-25' LIMIT 1"
    )
    frame = shop.spark.table(TARGET).where("order_date = DATE '2026-04-25'")
    scope = "order_date >= DATE '2026-04-25' AND order_date < DATE '2026-04-26'"
    with pytest.raises(Exception, match=r"(?i)conflict"):
        write(frame, scope)
    other = "order_date >= DATE '2026-04-24' AND order_date < DATE '2026-04-25'"
    day = shop.spark.table(TARGET).where("order_date = DATE '2026-04-24'")
    write(day, other)
    assert shop.count(TARGET) == 289


def test_a_conflict_is_transient_and_is_retried(
    shop: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F1: a conflict says so, is tried again as often as the task allows, and is recorded."""
    from setpoint.engine.spark.iceberg import IcebergTarget

    shop.python(COPY_WITH_RETRIES)
    original = IcebergTarget.write
    shop.ok("2026-04-25")
    calls = []

    def meddled(self: IcebergTarget, writing: Writing) -> None:
        calls.append(writing.token.fence)
        if len(calls) == 1:
            shop.spark.sql(
                f"INSERT INTO {TARGET} SELECT order_id + 9000, amount, ordered_at, order_date "
                f"FROM {TARGET} WHERE order_date = DATE '2026-04-25' LIMIT 1"
            )
        original(self, writing)

    monkeypatch.setattr(IcebergTarget, "write", meddled)
    result = shop.ok("2026-04-25")[0]
    assert (result.attempts, result.rows, len(shop.waits)) == (2, 144, 1)
    assert shop.count(TARGET) == 144
    assert calls == sorted(set(calls))
    attempts = shop.ledger.attempts(str(result.run_id))
    assert [attempt.state for attempt in attempts] == ["failed", "succeeded"]
    assert attempts[0].error_kind == CommitConflict.__name__


COPY_WITH_RETRIES = """
@task(target="lake.shop.orders", grain="day", write=overwrite(by="order_date"), retries=2,
      unique_key="order_id", sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
def orders(raw):
    return raw.withColumn("order_date", F.to_date("ordered_at"))
"""


def test_scenario_32_a_table_whose_files_mix_windows_is_refused(shop: Bench) -> None:
    """An unpartitioned table cannot have one day set alone; it stays as it was."""
    shop.table(TARGET, f"SELECT *, to_date(ordered_at) AS order_date FROM ({UNPARTITIONED})")
    error = shop.error("2026-04-25")
    assert isinstance(error, ResultMisshapen)
    assert "other windows" in error.message
    assert shop.count(TARGET) == 432


UNPARTITIONED = "SELECT * FROM lake.raw.orders"


def test_tasks_run_upstream_first_and_sql_reads_what_python_wrote(shop: Bench) -> None:
    """A graph of a Python and a SQL task gives the right figures."""
    shop.sql(
        """
        /*
        target: lake.shop.daily
        grain: day
        write: {overwrite: {by: order_date}}
        unique_key: [order_date]
        sources:
          orders: {table: lake.shop.orders, event_time: order_date}
        */
        SELECT order_date, count(*) AS orders, sum(amount) AS revenue, :ds AS ds,
               surrogate_key(order_date) AS key
        FROM orders GROUP BY order_date
        """,
        "daily",
    )
    results = shop.ok("2026-04-25", select=("daily",))
    assert [result.step.task.name for result in results] == ["orders", "daily"]
    ((day, count, revenue, ds, key),) = shop.rows("SELECT * FROM lake.shop.daily")
    from datetime import date

    from setpoint import surrogate_key_of

    assert (str(day), count, ds) == ("2026-04-25", 144, "2026-04-25")
    assert revenue == sum(range(144, 288))
    assert key == surrogate_key_of(date(2026, 4, 25))
