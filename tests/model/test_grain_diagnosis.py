"""The grain of a table, told from how often its partitions were written."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from setpoint.model.grain_diagnosis import PartitionWrite, diagnose_grain, partition_name

START = datetime(2026, 4, 25, 0, 5, tzinfo=timezone.utc)


def _writes(
    partition: str,
    times: int,
    gap: timedelta,
    *,
    replaced: bool = True,
    run_id: str | None = None,
) -> list[PartitionWrite]:
    return [
        PartitionWrite(
            partition=partition,
            at=START + number * gap,
            replaced=replaced and number > 0,
            run_id=run_id,
        )
        for number in range(times)
    ]


HOUR = timedelta(hours=1)


def test_an_hourly_job_that_overwrites_a_day_is_named() -> None:
    """E2: twenty-three times the day was replaced by an hour."""
    diagnosis = diagnose_grain(_writes("order_date=2026-04-25", 24, HOUR))
    (day,) = diagnosis.days
    assert (day.writes, day.expected, day.most, day.by_setpoint) == (24, 1, 24, 0)
    (problem,) = diagnosis.problems
    assert "order_date=2026-04-25 was overwritten 23 times on 2026-04-25" in problem
    assert "an hourly job overwrites a partition of a whole day" in problem
    assert diagnosis.document()["days"][0]["expected"] == 1


@pytest.mark.parametrize(
    "writes",
    [
        _writes("d=2026-04-25", 24, HOUR, replaced=False),
        _writes("d=2026-04-25", 3, HOUR),
        _writes("d=2026-04-25", 24, HOUR, run_id="a"),
        _writes("ts_hour=2026-04-25-00", 6, 2 * HOUR),
        _writes("region=north", 24, HOUR),
        [w for n in range(24) for w in _writes(f"ts_hour=2026-04-25-{n:02}", 1, HOUR)],
        [w for n in range(1, 29) for w in _writes(f"d=2026-02-{n:02}", 1, HOUR)],
    ],
    ids=["appends", "rerun", "setpoint", "rerun hours", "not time", "hours", "backfill"],
)
def test_what_is_no_finer_job_is_not_accused(writes: list[PartitionWrite]) -> None:
    """Appends, a few reruns, Setpoint's own runs, hourly partitions, a backfill of many days."""
    assert diagnose_grain(writes).problems == ()


@pytest.mark.parametrize(
    ("gap", "cadence"),
    [
        (timedelta(minutes=15), "a quarter-hourly or faster job"),
        (timedelta(minutes=30), "a half-hourly job"),
        (timedelta(hours=4), "a several-times-a-day job"),
    ],
)
def test_the_cadence_is_told_from_the_gaps(gap: timedelta, cadence: str) -> None:
    """The person looks for the job with that schedule."""
    (problem,) = diagnose_grain(_writes("d=2026-04-25", 5, gap)).problems
    assert cadence in problem


def test_partitions_are_written_as_people_read_them() -> None:
    """Iceberg counts hours and months from 1970."""
    assert partition_name({"ts_hour": 493645}) == "ts_hour=2026-04-25-13"
    assert partition_name({"ts_month": 675, "region": "x"}) == "ts_month=2026-04/region=x"
    assert partition_name({"ts_day": "2026-04-25"}) == "ts_day=2026-04-25"
