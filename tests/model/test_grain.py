"""A grain says how long windows are and where their edges lie."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from setpoint.errors import UsageError
from setpoint.model.grain import Grain, Unit, parse_instant


def utc(*parts: int) -> datetime:
    """A datetime in UTC."""
    return datetime(*parts, tzinfo=timezone.utc)  # type: ignore[arg-type, misc]


def labels(grain: Grain, start: str, end: str) -> list[str]:
    """The labels of the windows of a local range."""
    first, last = (parse_instant(edge, zone=grain.zone) for edge in (start, end))
    return [window.label for window in grain.windows(first, last)]


@pytest.mark.parametrize(
    ("text", "unit", "minutes", "shown"),
    [
        ("15min", "minutes", 15, "15min"),
        ("5 min", "minutes", 5, "5min"),
        ("30 Minutes", "minutes", 30, "30min"),
        ("minute", "minutes", 1, "1min"),
        ("60min", "minutes", 60, "hour"),
        ("hour", "minutes", 60, "hour"),
        ("1h", "minutes", 60, "hour"),
        (" Hourly ", "minutes", 60, "hour"),
        ("6h", "minutes", 360, "6h"),
        ("12 hours", "minutes", 720, "12h"),
        ("120min", "minutes", 120, "2h"),
        ("day", "day", 0, "day"),
        ("1 day", "day", 0, "day"),
        ("24h", "day", 0, "day"),
        ("1440min", "day", 0, "day"),
        ("daily", "day", 0, "day"),
        ("week", "week", 0, "week"),
        ("weekly", "week", 0, "week"),
        ("month", "month", 0, "month"),
        ("monthly", "month", 0, "month"),
    ],
)
def test_a_grain_is_read_the_way_people_write_it(
    text: str, unit: Unit, minutes: int, shown: str
) -> None:
    """Different spellings of one grain are one grain, and its text reads back as itself."""
    grain = Grain.parse(text, zone="Europe/Paris")
    assert grain == Grain(unit=unit, minutes=minutes, zone="Europe/Paris")
    assert str(grain) == shown
    assert Grain.parse(str(grain), zone="Europe/Paris") == grain


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("dayly", "'daily'"),
        ("@daily", "'daily'"),
        ("15m", "'15min'"),
        ("mnth", "'month'"),
        ("2 days", "'day'"),
        ("7min", "Minutes must divide an hour"),
        ("45 minutes", "Minutes must divide an hour"),
        ("90min", "Minutes must divide an hour"),
        ("0min", "Minutes must divide an hour"),
        ("99999999min", "Minutes must divide an hour"),
        ("5h", "hours a day"),
        ("48h", "hours a day"),
        ("year", None),
        ("", None),
    ],
)
def test_an_unknown_grain_is_refused_with_the_accepted_ones(text: str, hint: str | None) -> None:
    """The refusal quotes what was found, suggests the nearest and lists what is accepted."""
    with pytest.raises(UsageError) as refused:
        Grain.parse(text)
    said = refused.value.message
    assert said.startswith(f"{text!r} is not a grain.")
    assert "1min, 2min, 3min, 4min, 5min, 6min, 10min, 12min, 15min, 20min, 30min, hour" in said
    assert said.endswith("2h, 3h, 4h, 6h, 8h, 12h, day, week, month.")
    if hint is None:
        assert said.startswith(f"{text!r} is not a grain. Accepted are ")
    else:
        assert hint in said


def test_a_grain_built_by_hand_is_checked_too() -> None:
    """A constructor cannot make what parsing would refuse."""
    with pytest.raises(UsageError, match="'7min' is not a grain"):
        Grain(unit="minutes", minutes=7)
    with pytest.raises(UsageError, match="'year' is not a grain"):
        Grain(unit="year")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="one day takes no minutes; found 15"):
        Grain(unit="day", minutes=15)
    with pytest.raises(UsageError, match="'Mars/Olympus' is not a time zone"):
        Grain(unit="day", zone="Mars/Olympus")


def test_a_naive_instant_is_refused() -> None:
    """A grain never guesses in which zone a datetime was meant."""
    with pytest.raises(UsageError, match="has no time zone"):
        Grain.parse("day").floor(datetime(2026, 4, 25))  # noqa: DTZ001 - naive on purpose


def test_edges_are_rounded_down_up_and_recognised() -> None:
    """`floor`, `ceil` and `aligned` agree on where the edges are."""
    quarter = Grain.parse("15min")
    inside, edge = utc(2026, 4, 25, 13, 7, 30, 5), utc(2026, 4, 25, 13, 15)
    assert quarter.floor(inside) == utc(2026, 4, 25, 13)
    assert quarter.ceil(inside) == edge == quarter.ceil(edge) == quarter.floor(edge)
    assert quarter.aligned(edge)
    assert quarter.aligned(edge.astimezone(ZoneInfo("Europe/Paris")))
    assert not quarter.aligned(inside)
    assert not quarter.aligned(edge + timedelta(microseconds=1))


def test_a_range_is_rounded_outward() -> None:
    """Every window that the range touches is listed, whole."""
    day = Grain.parse("day")
    touched = list(day.windows(utc(2026, 4, 24, 12), utc(2026, 4, 26, 0, 0, 1)))
    assert [each.ds for each in touched] == ["2026-04-24", "2026-04-25", "2026-04-26"]
    exact = list(day.windows(utc(2026, 4, 24), utc(2026, 4, 26)))
    assert [each.ds for each in exact] == ["2026-04-24", "2026-04-25"]


def test_an_empty_range_has_no_windows_and_a_backward_one_is_refused() -> None:
    """Nothing lies in `[x, x)`; an end before the start is a mistake, said at once."""
    hour = Grain.parse("hour")
    noon = utc(2026, 4, 25, 12, 30)
    assert list(hour.windows(noon, noon)) == []
    with pytest.raises(UsageError, match="range ends before it starts"):
        hour.windows(noon, noon - timedelta(days=1))


@pytest.mark.parametrize("text", ["15min", "hour", "6h", "day", "week", "month"])
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Etc/GMT+12"])
def test_the_rim_of_the_calendar_is_refused_in_words(text: str, zone: str) -> None:
    """The last and first years end in a refusal, never in an overflow."""
    grain = Grain.parse(text, zone=zone)
    last, first = utc(9998, 12, 31, 23, 59, 59), utc(2, 1, 1)
    with pytest.raises(UsageError, match="outside the years"):
        list(grain.windows(last - timedelta(hours=12), last))
    with pytest.raises(UsageError, match="outside the years"):
        grain.window_at(first - timedelta(seconds=1))
    with pytest.raises(UsageError, match="outside the years"):
        grain.previous(grain.previous(grain.window_at(first)))


def test_coarser_is_a_matter_of_length() -> None:
    """Month, week, day, hours, minutes: the order that a cadence is held against."""
    order = ["month", "week", "day", "6h", "hour", "15min", "1min"]
    grains = [Grain.parse(text) for text in order]
    for place, grain in enumerate(grains):
        assert [grain.coarser_than(other) for other in grains] == [
            place < elsewhere for elsewhere in range(len(grains))
        ]
    assert [str(each) for each in sorted(grains)] == order[::-1]
    assert not Grain.parse("day").coarser_than(Grain.parse("day", zone="Asia/Tokyo"))


@pytest.mark.parametrize(
    ("coarse", "fine", "expected"),
    [
        ("day", "hour", True),
        ("day", "15min", True),
        ("day", "day", True),
        ("week", "day", True),
        ("week", "6h", True),
        ("month", "day", True),
        ("month", "week", False),
        ("month", "month", True),
        ("week", "month", False),
        ("day", "week", False),
        ("hour", "day", False),
        ("hour", "20min", True),
        ("30min", "20min", False),
        ("6h", "4h", False),
        ("6h", "2h", True),
        ("12h", "1min", True),
    ],
)
def test_covering_means_a_whole_number_of_windows(coarse: str, fine: str, expected: bool) -> None:
    """A grain covers a finer one when their edges meet; dividing is the same from below."""
    one, other = Grain.parse(coarse), Grain.parse(fine)
    assert one.covers(other) is expected
    assert other.divides(one) is expected


def test_grains_of_different_zones_do_not_cover_one_another() -> None:
    """A day in Tokyo is no whole number of days in UTC."""
    assert not Grain.parse("day").covers(Grain.parse("hour", zone="Asia/Tokyo"))


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Paris", "2026-03-29", 23),
        ("Europe/Paris", "2026-10-25", 25),
        ("Europe/Paris", "2026-04-25", 24),
        ("America/New_York", "2026-03-08", 23),
        ("America/New_York", "2026-11-01", 25),
        # Clocks skip midnight itself, or go back over it.
        ("America/Sao_Paulo", "2018-11-04", 23),
        ("America/Sao_Paulo", "2018-02-17", 25),
        ("Asia/Beirut", "2026-03-29", 23),
        ("Africa/Cairo", "2026-04-24", 23),
        ("America/Havana", "2026-11-01", 25),
        # Two hours at once.
        ("Antarctica/Troll", "2026-03-29", 22),
        ("Antarctica/Troll", "2026-10-25", 26),
    ],
)
def test_scenario_30_days_of_23_and_25_hours_have_as_many_windows(
    zone: str, day: str, hours: int
) -> None:
    """A day has its real number of hours and of quarters, none missing and none double."""
    whole = Grain.parse("day", zone=zone).window_at(parse_instant(f"{day}T12:00", zone=zone))
    assert whole.label == whole.ds == day
    assert whole.end - whole.start == timedelta(hours=hours)
    for text, expected in (("hour", hours), ("15min", 4 * hours)):
        pieces = list(Grain.parse(text, zone=zone).windows(whole.start, whole.end))
        assert len({piece.label for piece in pieces}) == len(pieces) == expected
        assert (pieces[0].start, pieces[-1].end) == (whole.start, whole.end)


def test_scenario_30_spans_of_several_hours_keep_to_the_wall_clock() -> None:
    """Six-hour windows begin at 00, 06, 12 and 18 local time also when the clocks change."""
    six = Grain.parse("6h", zone="Europe/Paris")
    assert labels(six, "2026-03-29", "2026-03-30") == [
        "2026-03-29T00:00+01:00",
        "2026-03-29T06:00+02:00",
        "2026-03-29T12:00+02:00",
        "2026-03-29T18:00+02:00",
    ]
    night = six.window_at(parse_instant("2026-10-25T03:00", zone="Europe/Paris"))
    assert night.end - night.start == timedelta(hours=7)
    two = Grain.parse("2h", zone="Europe/Paris")
    assert labels(two, "2026-03-29", "2026-03-29T06:00") == [
        "2026-03-29T00:00+01:00",
        "2026-03-29T03:00+02:00",
        "2026-03-29T04:00+02:00",
    ]


def test_scenario_30_a_shift_of_half_an_hour_cuts_the_hour() -> None:
    """On Lord Howe clocks move by 30 minutes: the hours around are cut there, nothing overlaps."""
    hour = Grain.parse("hour", zone="Australia/Lord_Howe")
    assert labels(hour, "2026-04-05T00:00", "2026-04-05T03:00") == [
        "2026-04-05T00:00+11:00",
        "2026-04-05T01:00+11:00",
        "2026-04-05T01:30+10:30",
        "2026-04-05T02:00+10:30",
    ]
    assert labels(hour, "2026-10-04T01:00", "2026-10-04T04:00") == [
        "2026-10-04T01:00+10:30",
        "2026-10-04T02:30+11:00",
        "2026-10-04T03:00+11:00",
    ]


def test_scenario_30_clocks_set_back_over_midnight_do_not_make_a_day_twice() -> None:
    """At 00:01 Newfoundland went back to 23:01: the new day had begun, and lasts 25 hours."""
    day = Grain.parse("day", zone="America/St_Johns")
    began = parse_instant("2006-10-29", zone=day.zone)
    second_evening = began + timedelta(minutes=30)
    assert second_evening.astimezone(ZoneInfo(day.zone)).strftime("%d %H:%M") == "28 23:30"
    whole = day.window_at(second_evening)
    assert (whole.start, whole.label) == (began, "2006-10-29")
    assert whole.end - whole.start == timedelta(hours=25)


def test_scenario_30_a_day_that_the_calendar_skipped_is_no_window() -> None:
    """Samoa had no 30 December 2011: the 29th is followed by the 31st."""
    day = Grain.parse("day", zone="Pacific/Apia")
    assert labels(day, "2011-12-28", "2012-01-01") == ["2011-12-28", "2011-12-29", "2011-12-31"]
    last = day.window_at(parse_instant("2011-12-31", zone=day.zone))
    assert day.previous(last).label == "2011-12-29"
    assert day.next(day.previous(last)) == last


@pytest.mark.parametrize(("year", "days"), [(2024, 29), (2026, 28), (1900, 28), (2000, 29)])
def test_scenario_30_leap_days_are_days(year: int, days: int) -> None:
    """February has as many windows as days, and is one month."""
    first, last = utc(year, 2, 1), utc(year, 3, 1)
    assert len(list(Grain.parse("day").windows(first, last))) == days
    month = Grain.parse("month").window_at(utc(year, 2, 28, 23, 59))
    assert (month.start, month.end, month.label) == (first, last, f"{year}-02")


def test_scenario_30_weeks_begin_on_monday_across_the_year() -> None:
    """The week of new year is one window, numbered as ISO numbers it."""
    assert labels(Grain.parse("week"), "2026-12-31", "2027-01-12") == [
        "2026-W53 (2026-12-28)",
        "2027-W01 (2027-01-04)",
        "2027-W02 (2027-01-11)",
    ]


def test_scenario_30_months_and_weeks_follow_the_zone() -> None:
    """Edges lie at local midnight, an hour apart in winter and summer when seen from UTC."""
    month = Grain.parse("month", zone="Europe/Paris").window_at(utc(2026, 3, 15))
    assert (month.start, month.end) == (utc(2026, 2, 28, 23), utc(2026, 3, 31, 22))
    assert month.label == "2026-03"
    week = Grain.parse("week", zone="Europe/Paris").window_at(utc(2026, 10, 21))
    assert (week.start, week.end) == (utc(2026, 10, 18, 22), utc(2026, 10, 25, 23))
    assert week.label == "2026-W43 (2026-10-19)"


@pytest.mark.parametrize(
    ("text", "zone", "instant"),
    [
        ("2026-04-25", "UTC", utc(2026, 4, 25)),
        ("2026-04-25", "Europe/Paris", utc(2026, 4, 24, 22)),
        ("2026-04-25T13:00", "Europe/Paris", utc(2026, 4, 25, 11)),
        ("2026-04-25T13:00:07", "UTC", utc(2026, 4, 25, 13, 0, 7)),
        ("2026-04-25T13:00Z", "Europe/Paris", utc(2026, 4, 25, 13)),
        ("2026-04-25T13:00:00+02:00", "UTC", utc(2026, 4, 25, 11)),
        ("2026-04-25T13:00-05:30", "UTC", utc(2026, 4, 25, 18, 30)),
        # Skipped by the clocks: the instant of the skip. Shown twice: the first.
        ("2026-03-29T02:30", "Europe/Paris", utc(2026, 3, 29, 1)),
        ("2026-10-25T02:30", "Europe/Paris", utc(2026, 10, 25, 0, 30)),
        ("2018-11-04", "America/Sao_Paulo", utc(2018, 11, 4, 3)),
    ],
)
def test_a_date_is_read_in_the_zone_unless_it_says_otherwise(
    text: str, zone: str, instant: datetime
) -> None:
    """A date is its local midnight; an offset in the text wins over the zone."""
    read = parse_instant(text, zone=zone)
    assert read == instant
    assert read.tzinfo is timezone.utc


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "2026-02-30",
        "2026-13-01",
        "25.04.2026",
        "04/25/2026",
        "2026-4-5",
        "20260425",
        "2026-04",
        "2026-04-25 13:00",
        "2026-04-25T13",
        "2026-04-25T24:00",
        "2026-04-25T13:60",
        "2026-04-25T13:00+0200",
        "2026-04-25T13:00+25:00",
        "2026-04-25T13:00z",
        "2026-04-25Z",
        "2026-04-25\n",
        "٢٠٢٦-04-25",
        "yesterday",
        "0001-01-01",
        "9999-12-31",
    ],
)
def test_other_texts_are_refused_with_the_accepted_forms(text: str) -> None:
    """The refusal quotes what was found and shows what can be typed."""
    with pytest.raises(UsageError) as refused:
        parse_instant(text, zone="Europe/Paris")
    assert repr(text) in refused.value.message
    assert "Accepted are 2026-04-25 and 2026-04-25T13:00" in refused.value.message
