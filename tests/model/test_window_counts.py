from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from setpoint.model.grain import Grain, parse_instant
from setpoint.model.scope import ColumnKind
from setpoint.model.window import Window, union
from setpoint.model.window_counts import by_partition, by_stretch, stretch_seconds


def windows(grain: str, start: str, end: str, zone: str = "UTC") -> list[Window]:
    """The windows of a grain in a range."""
    made = Grain.parse(grain, zone=zone)
    first, last = parse_instant(start, zone=zone), parse_instant(end, zone=zone)
    return list(made.windows(first, last))


DAYS = windows("day", "2026-04-01", "2026-04-04")


def test_partitions_by_date_are_the_windows_themselves() -> None:
    """Added and removed rows for each; a day without a partition has none."""
    found = by_partition(
        DAYS,
        "day",
        ColumnKind.DATE,
        {"day=2026-04-01": 5, "day=2026-04-03": 7},
        {"day=2026-04-02": 2},
    )
    assert found is not None
    assert [(each.rows, each.replaced) for each in found] == [(5, 0), (0, 2), (7, 0)]


def test_finer_partitions_add_up_and_coarser_ones_tell_nothing() -> None:
    """Hours of a day are that day's; a month is no window of days."""
    hours = {"ts_hour=2026-04-01-00": 1, "ts_hour=2026-04-01-23": 2, "ts_hour=2026-04-02-00": 4}
    found = by_partition(DAYS, "ts", ColumnKind.TIMESTAMP, hours, {})
    assert found is not None
    assert [each.rows for each in found] == [3, 4, 0]
    assert by_partition(DAYS, "ts", ColumnKind.TIMESTAMP, {"ts_month=2026-04": 3}, {}) is None


@pytest.mark.parametrize(
    "name", ["other=2026-04-01", "day=x", "day=2026-05-09", "day_hour=1", "day_month=13", ""]
)
def test_what_is_not_understood_tells_nothing(name: str) -> None:
    """Another column, no date, or a date outside of the windows."""
    assert by_partition(DAYS, "day", ColumnKind.DATE, {name: 1}, {}) is None


def test_days_of_another_zone_are_not_utc_days() -> None:
    """An instant's UTC day overlaps two local days; a date column holds local days."""
    local = windows("day", "2026-04-01", "2026-04-04", zone="Europe/Paris")
    assert by_partition(local, "t", ColumnKind.TIMESTAMP, {"t_day=2026-04-02": 3}, {}) is None
    found = by_partition(local, "t", ColumnKind.DATE, {"region=a/t=2026-04-02": 3}, {})
    assert found is not None
    assert [each.rows for each in found] == [0, 3, 0]


def test_stretches_divide_every_window_also_over_a_change_of_clocks() -> None:
    """A day of 25 hours among days of 24: stretches of an hour."""
    local = windows("day", "2026-10-24", "2026-10-27", zone="Europe/Paris")
    assert stretch_seconds(local) == 3600
    found = by_stretch(local, {0: 1, 23: 2, 24: 4, 48: 8, 49: 16}, {72: 1})
    assert [(each.rows, each.replaced) for each in found] == [(3, 0), (12, 0), (16, 1)]
    assert stretch_seconds(DAYS) == 86_400


def test_the_union_of_contiguous_windows_is_one_window() -> None:
    """From the first start to the last end, in their zone."""
    start = datetime(2026, 4, 1, tzinfo=timezone.utc)
    assert union(DAYS) == Window(start=start, end=start + timedelta(days=3))
