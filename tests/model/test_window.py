"""A window is pure data that speaks the names people know."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from setpoint.errors import UsageError
from setpoint.model.window import Window, zone_named


def utc(*parts: int) -> datetime:
    """A datetime in UTC."""
    return datetime(*parts, tzinfo=timezone.utc)  # type: ignore[arg-type, misc]


DAY = Window(start=utc(2026, 4, 25), end=utc(2026, 4, 26))
PARIS_DAY = Window(start=utc(2026, 4, 24, 22), end=utc(2026, 4, 25, 22), zone="Europe/Paris")


def test_a_window_answers_to_the_names_that_schedulers_use() -> None:
    """`ds`, `next_ds`, `ts`, the data interval and the logical date all come from the window."""
    assert (DAY.ds, DAY.next_ds) == ("2026-04-25", "2026-04-26")
    assert DAY.ts == "2026-04-25T00:00:00+00:00"
    assert DAY.data_interval_start == DAY.logical_date == DAY.start == utc(2026, 4, 25)
    assert DAY.data_interval_end == DAY.end == utc(2026, 4, 26)


def test_dates_are_those_of_the_zone_and_not_of_utc() -> None:
    """A day in Paris begins the evening before in UTC, and is still called by its own date."""
    assert (PARIS_DAY.ds, PARIS_DAY.next_ds) == ("2026-04-25", "2026-04-26")
    assert PARIS_DAY.ts == "2026-04-24T22:00:00+00:00"


def test_instants_are_kept_in_utc_whatever_zone_they_came_in() -> None:
    """The same stretch of time given in another zone is the same window."""
    paris = ZoneInfo("Europe/Paris")
    given = Window(
        start=datetime(2026, 4, 25, 2, tzinfo=paris), end=datetime(2026, 4, 26, 2, tzinfo=paris)
    )
    assert given == DAY
    assert hash(given) == hash(DAY)
    assert given.start.tzinfo is timezone.utc


def test_a_datetime_of_a_scheduler_becomes_a_plain_one() -> None:
    """Subclasses of datetime bring their own text; the key must not depend on it."""

    class Stamp(datetime):
        def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
            return f"stamp {super().isoformat(sep, timespec)}"

    window = Window(start=Stamp(2026, 4, 25, tzinfo=timezone.utc), end=utc(2026, 4, 26))
    assert type(window.start) is datetime
    assert window.key == DAY.key


@pytest.mark.parametrize("edge", ["start", "end"])
def test_a_naive_datetime_is_refused(edge: str) -> None:
    """A time without a zone names no instant, and is never guessed at."""
    edges = {"start": utc(2026, 4, 25), "end": utc(2026, 4, 26)}
    edges[edge] = datetime(2026, 4, 25, 12)  # noqa: DTZ001 - the naive one is the point
    with pytest.raises(UsageError, match="2026-04-25T12:00:00 has no time zone"):
        Window(start=edges["start"], end=edges["end"])


@pytest.mark.parametrize("length", [timedelta(0), timedelta(hours=-1)])
def test_a_window_must_end_after_it_starts(length: timedelta) -> None:
    """An empty or backward window is refused with both ends named."""
    with pytest.raises(UsageError, match=r"end after it starts.*2026-04-25T00:00:00\+00:00"):
        Window(start=utc(2026, 4, 25), end=utc(2026, 4, 25) + length)


@pytest.mark.parametrize(
    "far",
    [utc(1, 1, 1), utc(9999, 12, 31), datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))],
)
def test_the_rim_of_the_calendar_is_refused(far: datetime) -> None:
    """Years that a zone or a step could push out of the calendar are refused, not crashed on."""
    with pytest.raises(UsageError, match="outside the years 0002 to 9998"):
        DAY.contains(far)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Europe/Pariss", "Did you mean Europe/Paris"),
        ("europe/paris", "Did you mean Europe/Paris"),
        ("Europe", "Europe"),
        ("", "IANA name"),
        ("../UTC", "IANA name"),
        ("a\0b", "IANA name"),
        ("x" * 300, "IANA name"),
        ("localtime", "IANA name"),
    ],
)
def test_an_unknown_zone_is_refused_with_the_nearest_name(name: str, hint: str) -> None:
    """A wrong zone, or one that means what the machine is set to, is refused in clear words."""
    with pytest.raises(UsageError, match="is not a time zone") as refused:
        Window(start=utc(2026, 4, 25), end=utc(2026, 4, 26), zone=name)
    assert hint in refused.value.message


def test_zones_of_the_machine_are_never_suggested() -> None:
    """The hint for a near miss names no zone that is itself refused."""
    with pytest.raises(UsageError) as refused:
        zone_named("localtim")
    assert "Did you mean localtime" not in refused.value.message


def test_the_end_is_outside_the_window() -> None:
    """Half-open: the start is inside, the end is not, and zones do not matter."""
    assert DAY.contains(DAY.start)
    assert DAY.contains(DAY.end - timedelta(microseconds=1))
    assert not DAY.contains(DAY.end)
    assert not DAY.contains(DAY.start - timedelta(microseconds=1))
    assert DAY.contains(datetime(2026, 4, 26, 1, tzinfo=ZoneInfo("Europe/Paris")))


def test_windows_that_only_touch_do_not_overlap() -> None:
    """Neighbours share no instant; a window inside another does."""
    after = Window(start=DAY.end, end=DAY.end + timedelta(days=1))
    inside = Window(start=DAY.start + timedelta(hours=5), end=DAY.start + timedelta(hours=6))
    assert not DAY.overlaps(after)
    assert not after.overlaps(DAY)
    assert DAY.overlaps(inside)
    assert inside.overlaps(DAY)
    assert DAY.overlaps(PARIS_DAY)


def test_windows_sort_by_time() -> None:
    """Sorting puts windows in the order of their starts."""
    days = [Window(start=utc(2026, 4, day), end=utc(2026, 4, day + 1)) for day in (3, 1, 2)]
    assert [each.ds for each in sorted(days)] == ["2026-04-01", "2026-04-02", "2026-04-03"]


def test_the_key_is_stable_and_leads_back_to_the_window() -> None:
    """The ledger's id of a window is UTC text, and parsing it gives the window again."""
    assert DAY.key == "2026-04-25T00:00:00Z/2026-04-26T00:00:00Z"
    assert Window.parse_key(DAY.key) == DAY
    assert Window.parse_key(PARIS_DAY.key, zone="Europe/Paris") == PARIS_DAY


@pytest.mark.parametrize(
    "key",
    [
        "",
        "2026-04-25T00:00:00Z",
        "2026-04-25T00:00:00/2026-04-26T00:00:00",
        "2026-04-25Z/2026-04-26Z",
        "2026-04-25 00:00:00Z/2026-04-26T00:00:00Z",
        "2026-04-25T00:00:00+00:00Z/2026-04-26T00:00:00+00:00Z",
        "2026-04-25T00:00:00Z/2026-02-30T00:00:00Z",
    ],
)
def test_a_text_that_is_no_key_is_refused(key: str) -> None:
    """One window has one key: other spellings are refused, with an example of a right one."""
    with pytest.raises(UsageError, match="not the key of a window"):
        Window.parse_key(key)


@pytest.mark.parametrize(
    ("start", "end", "zone", "label"),
    [
        (utc(2026, 4, 25), utc(2026, 4, 26), "UTC", "2026-04-25"),
        (utc(2026, 4, 24, 22), utc(2026, 4, 25, 22), "Europe/Paris", "2026-04-25"),
        (utc(2026, 4, 20), utc(2026, 4, 27), "UTC", "2026-W17 (2026-04-20)"),
        (utc(2024, 12, 30), utc(2025, 1, 6), "UTC", "2025-W01 (2024-12-30)"),
        (utc(2026, 4, 1), utc(2026, 5, 1), "UTC", "2026-04"),
        (utc(2026, 12, 1), utc(2027, 1, 1), "UTC", "2026-12"),
        (utc(2026, 2, 1), utc(2026, 3, 1), "UTC", "2026-02"),
        (utc(2026, 4, 21), utc(2026, 4, 28), "UTC", "2026-04-21/2026-04-28"),
        (utc(2026, 4, 25, 13), utc(2026, 4, 25, 14), "UTC", "2026-04-25T13:00Z"),
        (utc(2026, 4, 25), utc(2026, 4, 25, 1), "UTC", "2026-04-25T00:00Z"),
        (utc(2026, 4, 25, 13, 0, 5), utc(2026, 4, 25, 14), "UTC", "2026-04-25T13:00:05Z"),
        (utc(2026, 4, 25, 13), utc(2026, 4, 25, 14), "Asia/Kolkata", "2026-04-25T18:30+05:30"),
        (utc(2026, 1, 5, 13), utc(2026, 1, 5, 14), "Europe/London", "2026-01-05T13:00+00:00"),
        # Clocks of Beirut skip midnight: the day begins at 01:00.
        (utc(2026, 3, 28, 22), utc(2026, 3, 29, 21), "Asia/Beirut", "2026-03-29"),
    ],
)
def test_the_label_is_what_people_call_the_window(
    start: datetime, end: datetime, zone: str, label: str
) -> None:
    """Days, weeks, months and hours are labelled in their own way, in their own zone."""
    window = Window(start=start, end=end, zone=zone)
    assert window.label == str(window) == label


def test_scenario_30_the_two_hours_of_an_autumn_night_have_different_labels() -> None:
    """At 02:00 in Paris on the day of 25 hours there are two windows, and their names differ."""
    hour = timedelta(hours=1)
    first = Window(start=utc(2026, 10, 25, 0), end=utc(2026, 10, 25, 1), zone="Europe/Paris")
    second = Window(start=first.start + hour, end=first.end + hour, zone="Europe/Paris")
    assert first.label == "2026-10-25T02:00+02:00"
    assert second.label == "2026-10-25T02:00+01:00"


def test_a_window_survives_pickling() -> None:
    """Windows cross process borders unchanged."""
    assert pickle.loads(pickle.dumps(PARIS_DAY)) == PARIS_DAY  # noqa: S301 - our own bytes
