"""What holds for every grain in every zone, from 1990 to 2040."""

from __future__ import annotations

import functools
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

from hypothesis import given, settings
from hypothesis import strategies as st

from setpoint.model.grain import Grain, parse_instant
from setpoint.model.window import Window

ZONES = sorted(available_timezones() - {"localtime"})
# Half-hour and two-hour shifts, changes at midnight or a minute past it, days left out.
ODD_ZONES = [
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/Caracas",
    "America/Havana",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Antarctica/Casey",
    "Antarctica/Troll",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Europe/Paris",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Pacific/Kwajalein",
]
FINE = ["1min", "4min", "15min", "30min", "hour"]
COARSE = ["2h", "3h", "6h", "8h", "12h", "day", "week", "month"]
SECOND = timedelta(seconds=1)

zones = st.one_of(st.sampled_from(ZONES), st.sampled_from(ODD_ZONES))


def offset(instant: datetime, zone: str) -> timedelta:
    """How far local clocks are from UTC."""
    shift = instant.astimezone(ZoneInfo(zone)).utcoffset()
    assert shift is not None
    return shift


@functools.cache
def clock_changes(zone: str, year: int) -> tuple[datetime, ...]:
    """The seconds of the year at which clocks of the zone were moved, found by looking."""
    found = []
    day = datetime(year, 1, 1, tzinfo=timezone.utc)
    while day.year == year:
        after = day + timedelta(days=1)
        if offset(day, zone) != offset(after, zone):
            seconds = range(1, 86401)
            low, high = 0, len(seconds) - 1
            while low < high:
                middle = (low + high) // 2
                if offset(day + SECOND * seconds[middle], zone) != offset(day, zone):
                    high = middle
                else:
                    low = middle + 1
            found.append(day + SECOND * seconds[low])
        day = after
    return tuple(found)


@st.composite
def moments(draw: st.DrawFn) -> tuple[str, datetime]:
    """A zone and an instant, every other time within two days of a change of its clocks."""
    zone = draw(zones)
    plain = draw(
        st.datetimes(
            datetime(1990, 1, 1),  # noqa: DTZ001 - the strategy adds the zone
            datetime(2040, 12, 31),  # noqa: DTZ001
            timezones=st.just(timezone.utc),
        )
    )
    changes = clock_changes(zone, plain.year)
    if not changes or draw(st.booleans()):
        return zone, plain
    near = draw(st.sampled_from([0, 1, -1, 60, -60, 1800, -1800, 3600, -3600]))
    far = draw(st.integers(-172800, 172800))
    return zone, draw(st.sampled_from(changes)) + SECOND * draw(st.sampled_from([near, far]))


many = settings(max_examples=250, deadline=None)
grains = st.sampled_from(FINE + COARSE)


@many
@given(moments(), grains)
def test_windows_tile_time(moment: tuple[str, datetime], text: str) -> None:
    """Each window begins where the one before ended, forward and back."""
    zone, instant = moment
    grain = Grain.parse(text, zone=zone)
    window = grain.window_at(instant)
    after, before = grain.next(window), grain.previous(window)
    assert window.contains(instant)
    assert after.start == window.end
    assert before.end == window.start
    assert grain.previous(after) == window == grain.next(before)


@many
@given(moments(), grains)
def test_a_window_is_the_window_at_each_of_its_instants(
    moment: tuple[str, datetime], text: str
) -> None:
    """The start, the last microsecond and what lies between name the same window."""
    zone, instant = moment
    grain = Grain.parse(text, zone=zone)
    window = grain.window_at(instant)
    inside = window.start + (window.end - window.start) / 3
    for each in (window.start, inside, window.end - timedelta(microseconds=1)):
        assert grain.window_at(each) == window


@many
@given(moments(), grains)
def test_rounding_twice_is_rounding_once(moment: tuple[str, datetime], text: str) -> None:
    """Edges round to themselves, and no edge lies between a floor and its ceiling."""
    zone, instant = moment
    grain = Grain.parse(text, zone=zone)
    low, high = grain.floor(instant), grain.ceil(instant)
    assert low <= instant <= high
    assert grain.floor(low) == grain.ceil(low) == low
    assert grain.floor(high) == grain.ceil(high) == high
    assert grain.aligned(low)
    assert grain.aligned(high)
    assert high in {low, grain.window_at(instant).end}
    assert grain.aligned(instant) == (low == instant == high)


@many
@given(moments(), st.sampled_from(["15min", "hour", *COARSE]), st.integers(1, 3 * 86400))
def test_a_listed_range_is_the_chain_of_single_windows(
    moment: tuple[str, datetime], text: str, seconds: int
) -> None:
    """Listing gives what stepping gives: each instant of the range in exactly one window."""
    zone, start = moment
    end = start + SECOND * seconds
    grain = Grain.parse(text, zone=zone)
    listed = list(grain.windows(start, end))
    chain = [grain.window_at(start)]
    while chain[-1].end < end:
        chain.append(grain.next(chain[-1]))
    assert listed == chain
    for instant in (start, start + (end - start) / 2, end - timedelta(microseconds=1)):
        assert sum(window.contains(instant) for window in listed) == 1
    assert listed[0].start == grain.floor(start)
    assert listed[-1].end == grain.ceil(end)


@many
@given(moments(), st.sampled_from(FINE))
def test_short_windows_show_one_offset_and_begin_on_the_clock(
    moment: tuple[str, datetime], text: str
) -> None:
    """Up to an hour: an edge is a multiple of the grain on local clocks or a change of them."""
    zone, instant = moment
    grain = Grain.parse(text, zone=zone)
    window = grain.window_at(instant)
    length = timedelta(minutes=grain.minutes)
    assert window.end - window.start <= length
    assert offset(window.start, zone) == offset(window.end - SECOND, zone)
    for edge in (window.start, window.end):
        changed = offset(edge, zone) != offset(edge - SECOND, zone)
        local = edge.astimezone(ZoneInfo(zone))
        assert changed or (local.minute % grain.minutes, local.second) == (0, 0)
    if not any(window.start <= each <= window.end for each in _changes_about(zone, window)):
        assert window.end - window.start == length


def _changes_about(zone: str, window: Window) -> tuple[datetime, ...]:
    return clock_changes(zone, window.start.year) + clock_changes(zone, window.end.year)


@many
@given(moments(), st.sampled_from(["15min", "hour"]))
def test_hours_and_quarters_fill_the_real_length_of_a_local_day(
    moment: tuple[str, datetime], text: str
) -> None:
    """A local day is exactly the sum of its short windows, be it 23, 24 or 25 hours long."""
    zone, instant = moment
    day = Grain.parse("day", zone=zone).window_at(instant)
    pieces = list(Grain.parse(text, zone=zone).windows(day.start, day.end))
    assert pieces[0].start == day.start
    assert pieces[-1].end == day.end
    assert sum((each.end - each.start for each in pieces), timedelta()) == day.end - day.start
    local = [edge.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for edge in (day.start, day.end)]
    shift = offset(day.start, zone) - offset(day.end, zone)
    assert day.end - day.start == local[1] - local[0] + shift


@many
@given(moments(), st.sampled_from(COARSE))
def test_long_windows_begin_when_clocks_first_show_their_edge(
    moment: tuple[str, datetime], text: str
) -> None:
    """A second before the start no clock of the zone had yet reached the edge."""
    zone, instant = moment
    grain = Grain.parse(text, zone=zone)
    start = grain.floor(instant)
    local = start.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    before = (start - SECOND).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    edge = _wall_edge(local, text)
    assert before < edge <= local
    # Only a time that the clocks skipped may begin late.
    assert edge == local or offset(start, zone) > offset(start - SECOND, zone)


def _wall_edge(local: datetime, text: str) -> datetime:
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    if text == "week":
        return midnight - timedelta(days=local.isocalendar()[2] - 1)
    if text == "month":
        return midnight.replace(day=1)
    if text == "day":
        return midnight
    hours = int(text[:-1])
    return midnight.replace(hour=local.hour - local.hour % hours)


@many
@given(moments())
def test_weeks_and_months_are_whole_days(moment: tuple[str, datetime]) -> None:
    """A week has seven days from Monday, a month those of the calendar; skipped days are none."""
    zone, instant = moment
    days = Grain.parse("day", zone=zone)
    for text in ("week", "month"):
        window = Grain.parse(text, zone=zone).window_at(instant)
        listed = [each.ds for each in days.windows(window.start, window.end)]
        first = date.fromisoformat(window.ds)
        length = 7 if text == "week" else _days_of_month(first)
        if text == "week":
            first -= timedelta(days=first.weekday())
        else:
            first = first.replace(day=1)
        calendar = [(first + timedelta(days=n)).isoformat() for n in range(length)]
        skipped = [each for each in calendar if each not in listed]
        assert [each for each in calendar if each not in skipped] == listed
        assert len(skipped) <= 1
        assert not skipped or any(
            abs(offset(each, zone) - offset(each - SECOND, zone)) >= timedelta(hours=23)
            for each in _changes_about(zone, window)
        )


def _days_of_month(day: date) -> int:
    return ((day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)).day


@many
@given(moments(), st.sampled_from(FINE + COARSE), st.sampled_from(FINE + COARSE))
def test_edges_of_a_covering_grain_are_edges_of_the_covered_one(
    moment: tuple[str, datetime], coarse: str, fine: str
) -> None:
    """Where one grain covers another, no fine window straddles a coarse edge."""
    zone, instant = moment
    above, below = Grain.parse(coarse, zone=zone), Grain.parse(fine, zone=zone)
    if above.covers(below):
        window = above.window_at(instant)
        assert below.aligned(window.start)
        assert below.aligned(window.end)
        assert not below.coarser_than(above)


@many
@given(moments(), grains)
def test_neighbours_have_labels_and_keys_of_their_own(
    moment: tuple[str, datetime], text: str
) -> None:
    """No two windows of a grain share a label, and a key leads back to its window."""
    zone, instant = moment
    grain = Grain.parse(text, zone=zone)
    listed = [grain.window_at(instant)]
    for _ in range(8):
        listed.append(grain.next(listed[-1]))
    assert len({each.label for each in listed}) == len({each.key for each in listed}) == 9
    assert [Window.parse_key(each.key, zone=zone) for each in listed] == listed


@many
@given(moments())
def test_a_label_of_days_and_hours_can_be_typed_back(moment: tuple[str, datetime]) -> None:
    """What `label` shows for a day or an hour, `parse_instant` reads as the window's start."""
    zone, instant = moment
    for text in ("hour", "day"):
        window = Grain.parse(text, zone=zone).window_at(instant)
        assert parse_instant(window.label, zone=zone) == window.start
