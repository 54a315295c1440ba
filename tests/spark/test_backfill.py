"""Backfills on real Spark: one checksum whatever way the windows are set."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from setpoint.backfilling.checking import check_project
from setpoint.backfilling.job import CONFLICT_RETRIES
from setpoint.backfilling.project_backfill import backfill_project
from setpoint.backfilling.publishing import Shadow, open_shadow
from setpoint.backfilling.request import Request
from setpoint.engine.spark.checksum import checksum
from setpoint.errors import UsageError
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from tests.spark.conftest import Bench

    from setpoint.backfilling.result import BackfillResult

pytestmark = pytest.mark.spark

DAYS = {"start": "2026-04-20", "end": "2026-04-28"}
RAW = """
SELECT id AS order_id, CAST(pmod(xxhash64(id), 1000) AS DECIMAL(10,2)) AS amount,
       pmod(id, 3) AS region,
       timestamp_seconds(unix_seconds(TIMESTAMP '2026-04-20 00:00:00Z') + id * 1800) AS ordered_at
FROM range(48 * 8)
"""
DAILY = """
@task(target="lake.shop.daily", grain="day", write=overwrite(by="day"),
      unique_key=["day", "region"], checks={"positive": "revenue >= 0"},
      sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
def daily(raw):
    return raw.groupBy(F.to_date("ordered_at").alias("day"), "region").agg(
        F.sum("amount").alias("revenue"), F.count("*").alias("orders"))
"""


def back_fill(bench: Bench, *tasks: str, dry_run: bool = False, **asked: Any) -> BackfillResult:
    """Back fill on the bench's own engine and ledger."""
    request = Request(tasks=tasks or ("daily",), **{**DAYS, **asked})
    return backfill_project(
        load_project(bench.root),
        request,
        engine=lambda: bench.engine,
        ledger=bench.ledger,
        dry_run=dry_run,
    )


def content(bench: Bench, table: str = "lake.shop.daily") -> str:
    """The checksum of a table."""
    return str(checksum(bench.spark.table(table)))


def shadow_of(bench: Bench, result: BackfillResult) -> Shadow:
    """What the backfill has written aside."""
    assert result.backfill_id is not None
    return open_shadow(
        result.backfill_id, bench.root, bench.ledger, lambda _t: None, engine=bench.engine
    )


@pytest.fixture
def days(bench: Bench) -> Bench:
    """Eight days of 48 orders each, and the task that sums up a day."""
    bench.table("lake.raw.orders", RAW)
    bench.python(DAILY)
    return bench


def test_forward_backward_batched_single_and_shadow_give_one_checksum(days: Bench) -> None:
    """H1, H7: the order, the size of the jobs and the way around make no difference."""
    end = "2026-04-24"
    days.ok(start="2026-04-20", end=end)
    clean = content(days)
    ways: list[dict[str, Any]] = [
        {},
        {"backwards": True, "batch_size": 3},
        {"batch_size": 1, "max_active_runs": 3},
    ]
    for way in ways:
        days.spark.sql("DROP TABLE lake.shop.daily")
        result = back_fill(days, reprocess="completed", end=end, **way)
        assert result.state == "succeeded", result.failed
        assert content(days) == clean, way
    days.spark.sql("DELETE FROM lake.shop.daily WHERE day > DATE '2026-04-22'")
    shadow = shadow_of(days, back_fill(days, shadow=True, end=end))
    shadow.publish()
    assert content(days) == clean


def test_each_window_of_a_job_has_its_outcome_from_one_commit(days: Bench) -> None:
    """H7: eight windows, one job, one snapshot; rows and rows replaced for each window."""
    first = back_fill(days)
    assert [job.windows for job in days.ledger.backfills.jobs(first.backfill_id)] == [8]
    assert [(w.rows, w.replaced) for w in first.windows] == [(3, 0)] * 8
    again = back_fill(days, reprocess="completed")
    assert [(w.rows, w.replaced) for w in again.windows] == [(3, 3)] * 8
    runs = days.ledger.latest("daily")
    assert len({run.snapshot for run in runs}) == 1
    assert len(runs) == 8
    assert {run.state for run in runs} == {"succeeded"}
    assert {run.detail["backfill"] for run in runs} == {again.backfill_id}
    assert again.usage is not None
    assert again.usage.bytes_read
    assert again.usage.bytes_written


def test_scenario_24_a_window_that_became_empty_is_emptied_in_a_batch(days: Bench) -> None:
    """A day deleted at the source does not stay behind, and counts as no rows."""
    back_fill(days)
    days.spark.sql("DELETE FROM lake.raw.orders WHERE to_date(ordered_at) = '2026-04-23'")
    result = back_fill(days, reprocess="completed")
    assert [(w.rows, w.replaced) for w in result.windows][3] == (0, 3)
    assert days.count("lake.shop.daily", "day = DATE '2026-04-23'") == 0
    assert days.count("lake.shop.daily") == 21


def test_the_windows_to_blame_are_named_and_all_others_committed(days: Bench) -> None:
    """H7: two bad days in a batch of eight fail alone, with the gate's own words."""
    days.spark.sql(
        "UPDATE lake.raw.orders SET amount = -5000 WHERE to_date(ordered_at) IN "
        "(DATE '2026-04-21', DATE '2026-04-26')"
    )
    result = back_fill(days)
    assert result.state == "failed"
    assert [w.window.label for w in result.failed if w.window] == ["2026-04-21", "2026-04-26"]
    assert all("positive" in (w.error or "") for w in result.failed)
    assert days.count("lake.shop.daily") == 18
    states = {run.window_start: run.state for run in days.ledger.latest("daily")}
    assert sorted(states.values()) == ["failed"] * 2 + ["succeeded"] * 6
    days.table("lake.raw.orders", RAW)
    mended = back_fill(days)
    assert [w.window.label for w in mended.windows if w.window] == ["2026-04-21", "2026-04-26"]
    assert days.count("lake.shop.daily") == 24


RUNNING = """
@task(target="lake.shop.daily", grain="day", write=overwrite(by="day"), unique_key="order_id",
      sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
def daily(raw):
    from pyspark.sql import Window as W
    day = raw.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("running", F.sum("amount").over(W.orderBy("order_id")))
"""


def test_scenario_13_windows_that_are_not_separable_run_side_by_side_in_jobs_of_their_own(
    days: Bench,
) -> None:
    """A running total over the rows at hand differs when windows are put together: found out."""
    days.python(RUNNING)
    days.ok(start="2026-04-20", end="2026-04-28")
    clean = content(days)
    result = back_fill(days, reprocess="completed", max_active_runs=2)
    assert result.state == "succeeded", result.failed
    assert content(days) == clean
    jobs = days.ledger.backfills.jobs(result.backfill_id)
    assert [job.windows for job in jobs] == [1] * 8
    task = load_project(days.root).graph.task("daily")
    verdict = days.ledger.backfills.separability("daily", task.fingerprint)
    assert verdict is not None
    assert not verdict.separable
    plan = back_fill(days, reprocess="completed", dry_run=True).plan
    assert not plan.tasks[0].coalescing.possible
    assert "not separable" in plan.tasks[0].coalescing.why


LOCAL = """
@task(target="lake.shop.local", grain="{grain}", timezone="Europe/Paris",
      write=overwrite(by="{by}"), unique_key="order_id",
      sources={{"raw": Source("lake.raw.orders", event_time="ordered_at")}})
def local(raw):
    return raw.withColumn("day", F.to_date("ordered_at"))
"""
OVER_DST = RAW.replace("2026-04-20", "2026-10-23")


@pytest.mark.parametrize(
    ("grain", "by"), [("day", "day"), ("day", "ordered_at"), ("hour", "ordered_at")]
)
def test_scenario_30_a_range_over_the_end_of_summer_time_in_local_time(
    bench: Bench, grain: str, by: str
) -> None:
    """E1: the day of 25 hours has its rows, as dates, as instants, and hour by hour."""
    bench.table("lake.raw.orders", OVER_DST)
    bench.python(LOCAL.format(grain=grain, by=by))
    result = back_fill(bench, "local", start="2026-10-24", end="2026-10-27")
    assert result.state == "succeeded", result.failed
    rows = [w.rows for w in result.windows]
    assert sum(row or 0 for row in rows) == 2 * (24 + 25 + 24)
    assert rows == ([48, 50, 48] if grain == "day" else [2] * 73)
    assert len(bench.ledger.backfills.jobs(result.backfill_id)) == 1
    again = back_fill(bench, "local", start="2026-10-24", end="2026-10-27", reprocess="completed")
    assert [w.replaced for w in again.windows] == rows
    per_day = bench.rows("SELECT day, count(*) FROM lake.shop.local GROUP BY 1 ORDER BY 1")
    assert [n for _, n in per_day] == [48, 50, 48]


HOURS_TO_DAYS = """
@task(target="lake.shop.hourly", grain="hour", write=overwrite(by="ordered_at"),
      unique_key="order_id", sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
def hourly(raw):
    return raw

@task(target="lake.shop.daily", grain="day", write=overwrite(by="day"), unique_key=["day"],
      sources={"hourly": Source("lake.shop.hourly", event_time="ordered_at")})
def daily(hourly):
    return hourly.groupBy(F.to_date("ordered_at").alias("day")).agg(F.sum("amount").alias("sum"))
"""


def test_hours_are_set_before_the_days_that_read_them(bench: Bench) -> None:
    """H1: grains are mapped up and down; 72 hours and three days in four jobs."""
    bench.table("lake.raw.orders", RAW)
    bench.python(HOURS_TO_DAYS)
    result = back_fill(bench, "daily", with_upstream=True, batch_size=24, end="2026-04-23")
    assert result.state == "succeeded", result.failed
    order = [job.task for job in bench.ledger.backfills.jobs(result.backfill_id)]
    assert order == ["hourly", "hourly", "hourly", "daily"]
    assert bench.count("lake.shop.daily") == 3
    down = back_fill(
        bench, "hourly", with_downstream=True, reprocess="completed",
        start="2026-04-21T05:00", end="2026-04-21T07:00",
    )  # fmt: skip
    assert [w.window.label for w in down.windows if w.window and w.task == "daily"] == [
        "2026-04-21"
    ]


def test_scenario_21_downstream_reads_the_old_range_until_it_is_published(days: Bench) -> None:
    """H3: compared by window, sums and sample; published in one commit; the ledger moves along."""
    back_fill(days)
    before = content(days)
    days.spark.sql("UPDATE lake.raw.orders SET amount = 1000 WHERE order_id = 100")
    days.spark.sql("DELETE FROM lake.raw.orders WHERE to_date(ordered_at) = '2026-04-25'")
    result = back_fill(days, shadow=True)
    assert result.state == "succeeded", result.failed
    assert content(days) == before
    assert {run.task for run in days.ledger.latest(limit=None)} == {
        "daily",
        f"daily@{result.backfill_id}",
    }
    shadow = shadow_of(days, result)
    found = shadow.compare()["daily"]
    changed = {w.window.label: (w.added, w.removed, w.changed) for w in found.windows if not w.same}
    assert changed == {"2026-04-22": (0, 0, 1), "2026-04-25": (0, 3, 0)}
    assert found.sample[0].startswith("changed: day=2026-04-22")
    assert found.sums["revenue"][0] != found.sums["revenue"][1]
    (done,) = shadow.publish()
    assert (done.windows, done.rows, done.replaced) == (8, 21, 24)
    assert days.count("lake.shop.daily") == 21
    assert not days.exists(result.shadows[0])
    assert {run.snapshot for run in days.ledger.latest("daily")} == {done.snapshot}
    with pytest.raises(UsageError, match="published already"):
        shadow_of(days, result)


def test_a_shadow_that_was_overtaken_is_not_published_and_can_be_discarded(days: Bench) -> None:
    """A run that set one of the days meanwhile must not be undone unseen."""
    back_fill(days)
    result = back_fill(days, shadow=True)
    days.ok("2026-04-22")
    shadow = shadow_of(days, result)
    assert shadow.compare()["daily"].same
    with pytest.raises(UsageError, match="was set again while"):
        shadow.publish()
    assert shadow.discard() == list(result.shadows)
    assert not days.exists(result.shadows[0])


def test_check_sets_an_old_window_aside_and_compares_it(days: Bench) -> None:
    """The backfill test: nothing differs, until the code does; the table is never touched."""
    back_fill(days)
    before = content(days)
    project = load_project(days.root)
    (checked,) = check_project(project, ["daily"], days.engine, days.ledger)
    assert checked.comparison.same
    assert checked.label == "2026-04-20"
    days.python(DAILY.replace('F.sum("amount")', 'F.max("amount")'))
    (checked,) = check_project(load_project(days.root), ["daily"], days.engine, days.ledger)
    assert [w.changed for w in checked.comparison.windows] == [3]
    assert content(days) == before
    names = days.rows("SHOW TABLES IN lake.shop")
    assert [name for _, name, _ in names] == ["daily"]


def test_stale_finds_windows_whose_source_or_code_has_changed(days: Bench) -> None:
    """H5: by the event times of the files that later commits touched, and by fingerprint."""
    back_fill(days)
    assert back_fill(days, only=("stale",)).windows == ()
    days.spark.sql(
        "INSERT INTO lake.raw.orders VALUES (9001, 5.00, 1, TIMESTAMP '2026-04-24 03:00:00Z')"
    )
    stale = back_fill(days, only=("stale",))
    assert [w.window.label for w in stale.windows if w.window] == ["2026-04-24"]
    assert back_fill(days, only=("stale",)).windows == ()
    days.python(DAILY.replace("revenue >= 0", "revenue > -1"))
    assert len(back_fill(days, only=("stale",)).windows) == 8


def test_scenario_17_and_18_a_scheduled_run_meets_a_backfill_of_its_window(days: Bench) -> None:
    """Both end, one after the other or on a second try, and the table is that of a clean run."""
    days.ok(start="2026-04-20", end="2026-04-28")
    clean = content(days)
    errors: list[BaseException] = []

    def scheduled() -> None:
        try:
            days.run("2026-04-23")
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    other = threading.Thread(target=scheduled)
    other.start()
    result = back_fill(days, reprocess="completed", batch_size=4)
    other.join()
    assert not errors
    assert result.state == "succeeded", result.failed
    assert content(days) == clean


def test_scenario_20_compaction_during_a_backfill_costs_no_window(days: Bench) -> None:
    """Rewritten files and expired snapshots between base and commit: conflicts are tried again."""
    back_fill(days)
    stop = threading.Event()

    def compact() -> None:
        spark = days.engine.twin().spark
        # No more often than a job tries again: without a pause in between it would never end.
        for _ in range(CONFLICT_RETRIES):
            if stop.is_set():
                return
            with contextlib.suppress(PySparkException, Py4JJavaError):  # it may lose, too
                spark.sql(
                    "CALL lake.system.rewrite_data_files(table => 'shop.daily', "
                    "options => map('rewrite-all', 'true'))"
                ).collect()

    other = threading.Thread(target=compact)
    other.start()
    try:
        result = back_fill(days, reprocess="completed", batch_size=2)
    finally:
        stop.set()
        other.join()
    assert result.state == "succeeded", result.failed
    assert days.count("lake.shop.daily") == 24


@pytest.mark.parametrize("kind", ["delta", "parquet"])
def test_other_lakes_count_each_window_too(bench: Bench, kind: str) -> None:
    """Delta and Parquet name no partitions in a commit: the windows are counted by a look."""
    (bench.root / "setpoint.toml").write_text(
        f'[project]\nname = "t"\n[spark.conf]\n"spark.sql.shuffle.partitions" = 2\n'
        f'[catalogs.lake]\n[catalogs.dl]\ntype = "{kind}"\n'
    )
    from setpoint.engine.spark.engine import SparkEngine
    from setpoint.project.settings import read_settings

    bench.engine = SparkEngine(read_settings(bench.root), say=lambda _text: None)
    bench.table("lake.raw.orders", RAW)
    bench.python(DAILY.replace("lake.shop.daily", "dl.shop.daily"))
    first = back_fill(bench)
    assert first.state == "succeeded", first.failed
    assert [(w.rows, w.replaced) for w in first.windows] == [(3, 0)] * 8
    again = back_fill(bench, reprocess="completed")
    assert [(w.rows, w.replaced) for w in again.windows] == [(3, 3)] * 8
    shadow = shadow_of(bench, back_fill(bench, shadow=True))
    assert shadow.compare()["daily"].same
    shadow.publish()


def test_a_limit_on_rows_holds_for_each_window_of_a_batch(days: Bench) -> None:
    """`max_rows` is for a window: the day with too many rows fails, its neighbours pass."""
    days.python(DAILY.replace('"revenue >= 0"}', '"revenue >= 0"}, max_rows=3'))
    days.spark.sql(
        "INSERT INTO lake.raw.orders VALUES (9001, 5.00, 7, TIMESTAMP '2026-04-24 03:00:00Z')"
    )
    result = back_fill(days)
    assert [w.window.label for w in result.failed if w.window] == ["2026-04-24"]
    assert days.count("lake.shop.daily") == 21
