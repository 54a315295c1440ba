"""A window: the half-open stretch of time `[start, end)` that one run owns."""

from __future__ import annotations

import difflib
import functools
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, available_timezones

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# A year is kept free at both ends of Python's calendar, so that no zone, and no step to the next
# edge, can leave it.
FIRST_YEAR, LAST_YEAR = 2, 9998

# These name whatever the machine is set to: the same text would mean other windows elsewhere.
_MACHINE_ZONES = frozenset({"localtime", "posixrules"})
_MONDAY = 0


@dataclass(frozen=True, kw_only=True, order=True, slots=True)
class Window:
    """The half-open interval `[start, end)` that a run sets; always explicit, never the clock."""

    start: datetime
    end: datetime
    zone: str = "UTC"

    def __post_init__(self) -> None:
        zone_named(self.zone)
        start, end = as_utc(self.start), as_utc(self.end)
        if end <= start:
            raise UsageError(
                f"A window must end after it starts; "
                f"this one starts {self.start.isoformat()} and ends {self.end.isoformat()}."
            )
        # Most windows come from a grain and are in UTC already: years of them are listed at once.
        if start is not self.start:
            object.__setattr__(self, "start", start)
        if end is not self.end:
            object.__setattr__(self, "end", end)

    @property
    def data_interval_start(self) -> datetime:
        """The first instant inside the window, in UTC."""
        return self.start

    @property
    def data_interval_end(self) -> datetime:
        """The first instant after the window, in UTC."""
        return self.end

    @property
    def logical_date(self) -> datetime:
        """The start of the window, under the name that schedulers give it."""
        return self.start

    @property
    def ds(self) -> str:
        """The local date on which the window starts, such as `2026-04-25`."""
        return self._local_start.date().isoformat()

    @property
    def next_ds(self) -> str:
        """The local date of the first instant after the window."""
        return wall_clock(self.end, zone_named(self.zone)).date().isoformat()

    @property
    def ts(self) -> str:
        """The start in UTC as ISO 8601 text, such as `2026-04-25T13:00:00+00:00`."""
        return self.start.isoformat()

    @property
    def key(self) -> str:
        """The window as one stable text, `start/end` in UTC: the ledger's id for it."""
        return f"{_zulu(self.start)}/{_zulu(self.end)}"

    @classmethod
    def parse_key(cls, key: str, *, zone: str = "UTC") -> Window:
        """The window that `key` stands for; the zone is the grain's, keys do not hold it."""
        start, _, end = key.partition("/")
        try:
            return cls(start=_from_zulu(start), end=_from_zulu(end), zone=zone)
        except ValueError:
            raise UsageError(
                f"{key!r} is not the key of a window; "
                "one looks like 2026-04-25T00:00:00Z/2026-04-26T00:00:00Z."
            ) from None

    @property
    def label(self) -> str:
        """The window in few letters for people and logs.

        A day is `2026-04-25`, a month `2026-04`, a week `2026-W17 (2026-04-20)`, an hour
        `2026-04-25T13:00Z`. Outside UTC hours carry their offset, which tells the two 02:00
        hours of an autumn night apart.
        """
        first = self._local_start.date()
        if not self._is_midnight(self.start, first):
            return self._instant_label
        if self._is_midnight(self.end, first + timedelta(days=1)):
            return first.isoformat()
        if first.weekday() == _MONDAY and self._is_midnight(self.end, first + timedelta(days=7)):
            year, week, _ = first.isocalendar()
            return f"{year:04}-W{week:02} ({first.isoformat()})"
        if first.day == 1 and self._is_midnight(self.end, month_after(first)):
            return f"{first.year:04}-{first.month:02}"
        after = date.fromisoformat(self.next_ds)
        if self._is_midnight(self.end, after):
            return f"{first.isoformat()}/{after.isoformat()}"
        return self._instant_label

    def contains(self, instant: datetime) -> bool:
        """Whether `instant` lies inside; the end itself does not."""
        return self.start <= as_utc(instant) < self.end

    def overlaps(self, other: Window) -> bool:
        """Whether some instant lies in both windows; neighbours that touch do not overlap."""
        return self.start < other.end and other.start < self.end

    def __str__(self) -> str:
        return self.label

    @property
    def _local_start(self) -> datetime:
        return wall_clock(self.start, zone_named(self.zone))

    @property
    def _instant_label(self) -> str:
        shown = self.start.astimezone(zone_named(self.zone))
        span = "minutes" if shown.second == shown.microsecond == 0 else "auto"
        if self.zone == "UTC":
            return shown.replace(tzinfo=None).isoformat(timespec=span) + "Z"
        return shown.isoformat(timespec=span)

    def _is_midnight(self, instant: datetime, day: date) -> bool:
        return instant == instant_of(datetime.combine(day, time.min), zone_named(self.zone))


def union(windows: Sequence[Window]) -> Window:
    """The one window that contiguous windows, in order, make together."""
    return Window(start=windows[0].start, end=windows[-1].end, zone=windows[0].zone)


def as_utc(instant: datetime) -> datetime:
    """The same instant in UTC, as a plain datetime; a naive one is refused, never guessed at."""
    if (
        type(instant) is datetime
        and instant.tzinfo is timezone.utc
        and FIRST_YEAR <= instant.year <= LAST_YEAR
    ):
        return instant
    if instant.utcoffset() is None:
        raise UsageError(
            f"{instant.isoformat()} has no time zone, so it names no instant.",
            next_step="give the datetime a tzinfo, for example datetime.timezone.utc",
        )
    try:
        moved = instant.astimezone(timezone.utc)
    except OverflowError:
        moved = instant
    if not FIRST_YEAR <= moved.year <= LAST_YEAR:
        raise UsageError(
            f"{instant.isoformat()} lies outside the years {FIRST_YEAR:04} to {LAST_YEAR}."
        )
    # Schedulers hand over subclasses whose text and arithmetic differ from the standard ones.
    return datetime.combine(
        date(moved.year, moved.month, moved.day),
        time(moved.hour, moved.minute, moved.second, moved.microsecond),
        timezone.utc,
    )


@functools.cache
def zone_named(name: str) -> ZoneInfo:
    """The time zone of that IANA name; refused, with the nearest names, if there is none."""
    if name not in _MACHINE_ZONES:
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            # Each stands for one way of not being a zone: unknown, not a name, a folder of zones.
            pass
    known = {each.lower(): each for each in available_timezones() - _MACHINE_ZONES}
    near = [known[each] for each in difflib.get_close_matches(name.lower(), known, n=3)]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise UsageError(
        f"{name!r} is not a time zone; an IANA name such as UTC or Europe/Paris is needed.{hint}"
    )


def wall_clock(instant: datetime, zone: ZoneInfo) -> datetime:
    """What a clock on the wall shows at that instant, as a naive datetime."""
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


def instant_of(wall: datetime, zone: ZoneInfo) -> datetime:
    """The first instant at which clocks of the zone show `wall`.

    A time that the clocks skip is the instant of the skip; a time shown twice is the first one.
    """
    first = wall.replace(tzinfo=zone, fold=0).astimezone(timezone.utc)
    if wall_clock(first, zone) == wall:
        return first
    before = wall.replace(tzinfo=zone, fold=1).astimezone(timezone.utc)
    return earliest(before, first, lambda instant: wall_clock(instant, zone) >= wall)


def earliest(low: datetime, high: datetime, holds: Callable[[datetime], bool]) -> datetime:
    """The first whole second after `low` and up to `high` for which `holds`; it must at `high`."""
    while high - low > timedelta(seconds=1):
        middle = low + timedelta(seconds=(high - low) // timedelta(seconds=2))
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def month_after(day: date) -> date:
    """The first day of the month that follows the day's own."""
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def _zulu(instant: datetime) -> str:
    return instant.replace(tzinfo=None).isoformat() + "Z"


def _from_zulu(text: str) -> datetime:
    if not text.endswith("Z"):
        raise ValueError(text)
    parsed = datetime.fromisoformat(text[:-1]).replace(tzinfo=timezone.utc)
    if _zulu(parsed) != text:
        # One window, one key: other spellings of the same instant are not keys.
        raise ValueError(text)
    return parsed
