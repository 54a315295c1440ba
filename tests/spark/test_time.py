"""Sources are bounded and scopes are owned by time, in every kind of column and zone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.errors import ResultMisshapen, SourceFault

if TYPE_CHECKING:
    from tests.spark.conftest import Bench

pytestmark = pytest.mark.spark

EVENTS = """
SELECT id, timestamp_seconds(unix_seconds(TIMESTAMP '{start}') + id * 60) AS at
FROM range({minutes})
"""
TASK = """
@task(target="lake.shop.events", grain="{grain}", timezone="{zone}", write=overwrite(by="{by}"),
      unique_key="id", sources={{"events": Source("lake.raw.events", event_time="{event}")}})
def events(events):
    return events.withColumn("day", F.to_date("at"))
"""


def _project(
    bench: Bench, *, grain: str = "day", zone: str = "UTC", by: str = "day", event: str = "at"
) -> None:
    bench.python(TASK.format(grain=grain, zone=zone, by=by, event=event))


@pytest.mark.parametrize(
    ("column", "expression"),
    [
        ("at", "at"),
        ("wall", "CAST(at AS TIMESTAMP_NTZ)"),
        ("ds", "CAST(to_date(at) AS STRING)"),
        ("d", "to_date(at)"),
    ],
)
def test_a_source_is_bounded_by_any_kind_of_time(
    bench: Bench, column: str, expression: str
) -> None:
    """D2: the transform sees the window's rows only, without saying so."""
    query = EVENTS.format(start="2026-04-24 00:00:00Z", minutes=4320)
    bench.table("lake.raw.events", f"SELECT *, {expression} AS {column}_ FROM ({query})")
    _project(bench, event=f"{column}_")
    assert bench.ok("2026-04-25")[0].rows == 1440


@pytest.mark.parametrize(("by", "grain"), [("at", "15min"), ("at", "hour"), ("at", "day")])
def test_windows_of_any_length_are_set_alone(bench: Bench, by: str, grain: str) -> None:
    """E1: a run twice over of one window leaves its neighbours as they were."""
    bench.table("lake.raw.events", EVENTS.format(start="2026-04-25 00:00:00Z", minutes=2880))
    _project(bench, grain=grain, by=by)
    lengths = {"15min": ("2026-04-25T01:00", 15), "hour": ("2026-04-25T01:00", 60)}
    start, minutes = lengths.get(grain, ("2026-04-25", 1440))
    end = {"15min": "2026-04-25T01:45", "hour": "2026-04-25T04:00"}.get(grain, "2026-04-27")
    results = bench.ok(start=start, end=end)
    assert {result.rows for result in results} == {minutes}
    assert [bench.ok(start)[0].replaced for _ in range(2)] == [minutes, minutes]
    assert bench.count("lake.shop.events") == minutes * len(results)


@pytest.mark.parametrize(
    ("ds", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-07-01", 24)]
)
def test_scenario_30_a_local_day_has_as_many_hours_as_it_has(
    bench: Bench, ds: str, hours: int
) -> None:
    """E1: days of 23 and 25 hours in Paris, by date and by timestamp; no row lost or doubled."""
    bench.table(
        "lake.raw.events",
        EVENTS.format(start=f"{ds} 00:00:00 Europe/Paris", minutes=72 * 60).replace(
            "+ id * 60", "- 86400 + id * 60"
        ),
    )
    _project(bench, zone="Europe/Paris")
    assert bench.ok(ds)[0].rows == hours * 60
    assert bench.ok(ds)[0].replaced == hours * 60
    _project(bench, zone="Europe/Paris", by="at")
    bench.spark.sql("DROP TABLE lake.shop.events")
    assert bench.ok(ds)[0].rows == hours * 60
    hourly = bench.ok(ds)[0]
    assert hourly.replaced == hours * 60


def test_scenario_30_hours_of_a_day_when_clocks_go_back(bench: Bench) -> None:
    """25 hourly windows, each with its own 60 rows, though two are called 02:00."""
    bench.table(
        "lake.raw.events", EVENTS.format(start="2026-10-25 00:00:00 Europe/Paris", minutes=25 * 60)
    )
    _project(bench, grain="hour", zone="Europe/Paris", by="at")
    results = bench.ok(start="2026-10-25", end="2026-10-26")
    assert [result.rows for result in results] == [60] * 25
    assert len({result.step.label for result in results}) == 25
    assert bench.count("lake.shop.events") == 1500


def test_a_month_is_one_window(bench: Bench) -> None:
    """E1: a leap February is set as a whole."""
    bench.table("lake.raw.events", EVENTS.format(start="2024-01-31 00:00:00Z", minutes=45000))
    _project(bench, grain="month")
    assert bench.ok("2024-02-15")[0].rows == 29 * 1440
    assert bench.ok("2024-02-01")[0].replaced == 29 * 1440


def test_an_hourly_task_over_a_daily_column_is_refused(bench: Bench) -> None:
    """E2: each hour would wipe the rest of the day; refused before anything is written."""
    bench.table("lake.raw.events", EVENTS.format(start="2026-04-25 00:00:00Z", minutes=1440))
    _project(bench, grain="hour", by="day")
    error = bench.error("2026-04-25T03:00")
    assert isinstance(error, ResultMisshapen)
    assert "shorter than a day" in error.message
    assert not bench.exists("lake.shop.events")


def test_an_hourly_task_cannot_read_a_source_by_date(bench: Bench) -> None:
    """A date cannot tell one hour's rows from another's."""
    bench.table(
        "lake.raw.events",
        f"SELECT *, to_date(at) AS d FROM ({EVENTS.format(start='2026-04-25', minutes=60)})",
    )
    _project(bench, grain="hour", by="at", event="d")
    error = bench.error("2026-04-25T00:00")
    assert isinstance(error, SourceFault)
    assert "source events" in error.message


def test_hours_are_not_written_into_a_table_of_dates(bench: Bench) -> None:
    """The table's type counts too: cast on the way in, an hour's rows would leave the hour."""
    bench.table("lake.shop.hours", "SELECT 1L AS id, DATE '2026-04-25' AS at", "at")
    bench.python("""
        @task(target="lake.shop.hours", grain="hour", write=overwrite(by="at"))
        def hours(spark, window):
            return spark.range(10).select("id", F.lit(window.start).alias("at"))
    """)
    error = bench.error("2026-04-25T13:00")
    assert isinstance(error, ResultMisshapen)
    assert "at is a DATE: it cannot tell apart windows shorter than a day" in error.message
    assert bench.count("lake.shop.hours") == 1
