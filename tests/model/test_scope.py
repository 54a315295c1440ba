"""A window becomes a filter in the literals of the column's kind, right across clock changes."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.errors import ResultMisshapen
from setpoint.model.grain import Grain, parse_instant
from setpoint.model.scope import ColumnKind, bounds_sql, usual_kind, whole_days
from setpoint.model.window import Window

ZONES = [
    "UTC",
    "Europe/Paris",
    "America/Sao_Paulo",  # once skipped midnight itself
    "America/Havana",  # shows midnight twice in autumn
    "Australia/Lord_Howe",
    "Asia/Kolkata",
    "Pacific/Apia",  # skipped a whole day
]
MOMENTS = st.datetimes(
    min_value=datetime(1995, 1, 1),  # noqa: DTZ001 — hypothesis adds the zone
    max_value=datetime(2037, 1, 1),  # noqa: DTZ001
    timezones=st.just(timezone.utc),
)
LITERALS = re.compile(r"(\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d)?)Z?'")


def window(grain: str, at: str, zone: str = "UTC") -> Window:
    """The window of a grain that a time lies in."""
    return Grain.parse(grain, zone=zone).window_at(parse_instant(at, zone=zone))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ColumnKind.DATE, "d >= DATE '2026-04-25' AND d < DATE '2026-04-26'"),
        (ColumnKind.STRING, "d >= '2026-04-25' AND d < '2026-04-26'"),
        (
            ColumnKind.TIMESTAMP,
            "d >= TIMESTAMP '2026-04-24 22:00:00Z' AND d < TIMESTAMP '2026-04-25 22:00:00Z'",
        ),
        (
            ColumnKind.TIMESTAMP_NTZ,
            "d >= TIMESTAMP_NTZ '2026-04-25 00:00:00' AND d < TIMESTAMP_NTZ '2026-04-26 00:00:00'",
        ),
    ],
)
def test_a_day_in_paris_is_bounded_in_each_kind_of_column(kind: ColumnKind, expected: str) -> None:
    """Dates and wall clocks are those of the zone; instants are told in UTC."""
    assert bounds_sql("d", kind, window("day", "2026-04-25", "Europe/Paris")) == expected


@pytest.mark.parametrize(
    ("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-04-25", 24)]
)
def test_days_on_which_clocks_change_are_bounded_whole(day: str, hours: int) -> None:
    """A day of 23 or 25 hours is one date, and that many hours between its instants."""
    paris = window("day", day, "Europe/Paris")
    assert bounds_sql("d", ColumnKind.DATE, paris).startswith(f"d >= DATE '{day}'")
    lower, upper = (
        datetime.fromisoformat(text)
        for text in LITERALS.findall(bounds_sql("d", ColumnKind.TIMESTAMP, paris))
    )
    assert upper - lower == timedelta(hours=hours)


def test_the_hour_that_a_wall_clock_shows_twice_is_not_read_twice() -> None:
    """Without a zone the two 02:00 hours cannot be told apart: the second one has the rows."""
    first, second = Grain.parse("hour", zone="Europe/Paris").windows(
        datetime(2026, 10, 25, 0, tzinfo=timezone.utc),
        datetime(2026, 10, 25, 2, tzinfo=timezone.utc),
    )
    kind = ColumnKind.TIMESTAMP_NTZ
    both = [LITERALS.findall(bounds_sql("d", kind, each)) for each in (first, second)]
    assert both == [["2026-10-25 02:00:00"] * 2, ["2026-10-25 02:00:00", "2026-10-25 03:00:00"]]


@pytest.mark.parametrize("kind", [ColumnKind.DATE, ColumnKind.STRING])
@pytest.mark.parametrize("grain", ["15min", "hour", "6h"])
def test_a_date_column_is_refused_for_windows_shorter_than_a_day(
    kind: ColumnKind, grain: str
) -> None:
    """Such a filter would own the rows of the other hours too."""
    with pytest.raises(ResultMisshapen, match="shorter than a day") as refusal:
        bounds_sql("order_date", kind, window(grain, "2026-04-25T00:00"))
    assert "TIMESTAMP" in refusal.value.facts["expected"]
    assert refusal.value.next_step == 'use a timestamp column, or grain="day"'


@given(MOMENTS, st.sampled_from(ZONES), st.sampled_from(["day", "week", "month"]))
def test_windows_of_days_and_longer_fit_a_date_column(
    moment: datetime, zone: str, grain: str
) -> None:
    """Every such window begins and ends with a day of its zone, so dates can bound it."""
    found = Grain.parse(grain, zone=zone).window_at(moment)
    assert whole_days(found)
    assert usual_kind(found) is ColumnKind.DATE
    assert bounds_sql("d", ColumnKind.DATE, found) == (
        f"d >= DATE '{found.ds}' AND d < DATE '{found.next_ds}'"
    )


@given(MOMENTS, st.sampled_from(ZONES), st.sampled_from(["15min", "hour", "day", "week"]))
def test_neighbours_touch_and_never_overlap(moment: datetime, zone: str, grain: str) -> None:
    """The upper bound of a window is the lower bound of the next, in every kind of column."""
    cut = Grain.parse(grain, zone=zone)
    this = cut.window_at(moment)
    following = cut.next(this)
    kinds = [ColumnKind.TIMESTAMP, ColumnKind.TIMESTAMP_NTZ]
    if whole_days(this) and whole_days(following):
        kinds += [ColumnKind.DATE, ColumnKind.STRING]
    for kind in kinds:
        upper = LITERALS.findall(bounds_sql("d", kind, this))[1]
        assert LITERALS.findall(bounds_sql("d", kind, following))[0] == upper


@given(MOMENTS, st.sampled_from(ZONES))
def test_timestamp_bounds_are_the_window_itself(moment: datetime, zone: str) -> None:
    """Read back, the literals are exactly the window's instants."""
    found = Grain.parse("15min", zone=zone).window_at(moment)
    texts = LITERALS.findall(bounds_sql("d", ColumnKind.TIMESTAMP, found))
    edges = [datetime.fromisoformat(text).replace(tzinfo=timezone.utc) for text in texts]
    assert edges == [found.start, found.end]


def test_hours_are_mostly_kept_in_timestamps() -> None:
    """The usual column of a window shorter than a day can tell hours apart."""
    assert usual_kind(window("hour", "2026-04-25T00:00")) is ColumnKind.TIMESTAMP


def test_a_day_elsewhere_is_no_whole_day_here() -> None:
    """Midnight in UTC is no midnight in Paris, so dates of Paris cannot bound a day of UTC."""
    utc = window("day", "2026-04-25")
    assert not whole_days(Window(start=utc.start, end=utc.end, zone="Europe/Paris"))
    assert utc.start.astimezone(ZoneInfo("Europe/Paris")).hour == 2


def test_only_columns_of_time_and_text_can_be_bounded() -> None:
    """A Spark type is known by its simple name; a number is no time."""
    assert ColumnKind.of("timestamp_ntz") is ColumnKind.TIMESTAMP_NTZ
    assert ColumnKind.of("string") is ColumnKind.STRING
    assert ColumnKind.of("bigint") is None
