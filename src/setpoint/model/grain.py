"""A grain: how long windows are, and in which time zone their edges lie."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Literal, NoReturn

from setpoint.errors import UsageError
from setpoint.model.window import (
    FIRST_YEAR,
    LAST_YEAR,
    Window,
    as_utc,
    earliest,
    instant_of,
    month_after,
    wall_clock,
    zone_named,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

Unit = Literal["minutes", "day", "week", "month"]

_HOUR, _DAY = 60, 1440
_SPANS = tuple(n for n in range(1, _DAY) if _HOUR % n == 0 or (n % _HOUR == 0 and _DAY % n == 0))
# Nominal: only for telling which of two grains is the coarser one.
_NOMINAL_MINUTES = {"day": _DAY, "week": 7 * _DAY, "month": 30 * _DAY}
_NAMES: dict[str, tuple[Unit, int]] = {
    "minute": ("minutes", 1),
    "hour": ("minutes", _HOUR),
    "hourly": ("minutes", _HOUR),
    "day": ("day", 0),
    "daily": ("day", 0),
    "week": ("week", 0),
    "weekly": ("week", 0),
    "month": ("month", 0),
    "monthly": ("month", 0),
}
_COUNTED = re.compile(r"([0-9]{1,4})\s*(?:min|mins|minutes?|(h|hr|hrs|hours?)|(day|week|month))")
_INSTANT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:T((?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?)"
    r"(Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?"
)
# In no zone do clocks change twice within a week, so one look at each end of a day is enough.
_STRETCH = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Grain:
    """How long a task's windows are, and in which zone their edges lie.

    Windows of a grain tile time: each instant lies in exactly one. Days, weeks (from Monday),
    months and spans of several hours begin when a clock of the zone first shows their edge, so
    a day can have 23 or 25 hours. Spans of up to an hour are cut wherever the clocks change.
    """

    unit: Unit
    minutes: int = 0
    zone: str = "UTC"

    def __post_init__(self) -> None:
        zone_named(self.zone)
        counted = self.unit == "minutes"
        if not counted and self.unit not in _NOMINAL_MINUTES:
            _refuse(str(self.unit))
        if counted and self.minutes not in _SPANS:
            _refuse(f"{self.minutes}min")
        if not counted and self.minutes:
            raise UsageError(f"A grain of one {self.unit} takes no minutes; found {self.minutes}.")

    @classmethod
    def parse(cls, text: str, *, zone: str = "UTC") -> Grain:
        """The grain that people write as `15min`, `hour`, `6h`, `day`, `week` or `month`."""
        written = text.strip().lower()
        named = _NAMES.get(written)
        if named is None:
            named = _counted(written)
        if named is None:
            _refuse(text)
        unit, minutes = named
        return cls(unit=unit, minutes=minutes, zone=zone)

    def __str__(self) -> str:
        if self.unit != "minutes":
            return self.unit
        if self.minutes == _HOUR:
            return "hour"
        return f"{self.minutes}min" if self.minutes < _HOUR else f"{self.minutes // _HOUR}h"

    def floor(self, instant: datetime) -> datetime:
        """The last edge at or before the instant."""
        return self._floor(as_utc(instant))

    def ceil(self, instant: datetime) -> datetime:
        """The first edge at or after the instant."""
        moment = as_utc(instant)
        edge = self._floor(moment)
        return edge if edge == moment else self._edge_after(edge)

    def aligned(self, instant: datetime) -> bool:
        """Whether the instant is an edge of the grain."""
        return self.floor(instant) == instant

    def window_at(self, instant: datetime) -> Window:
        """The one window that holds the instant."""
        start = self.floor(instant)
        return Window(start=start, end=self._edge_after(start), zone=self.zone)

    def next(self, window: Window) -> Window:
        """The window that begins where this one ends."""
        return self.window_at(window.end)

    def previous(self, window: Window) -> Window:
        """The window that ends where this one begins."""
        return self.window_at(window.start - timedelta(microseconds=1))

    def windows(self, start: datetime, end: datetime) -> Iterator[Window]:
        """Every window that touches `[start, end)`, in order; both ends are rounded outward."""
        first, last = as_utc(start), as_utc(end)
        if last < first:
            raise UsageError(
                f"The range ends before it starts: from {start.isoformat()} to {end.isoformat()}."
            )
        if first == last:
            return iter(())
        first = self._floor(first)
        if self._fine:
            return self._fine_windows(first, last)
        return self._wall_windows(first, last)

    @property
    def nominal_minutes(self) -> int:
        """The usual length: 1440 for any day, 43200 for any month. For comparing grains only."""
        return _NOMINAL_MINUTES.get(self.unit, self.minutes)

    def coarser_than(self, other: Grain) -> bool:
        """Whether windows of this grain are longer: month, week, day, hours, minutes."""
        return self.nominal_minutes > other.nominal_minutes

    def __lt__(self, other: Grain) -> bool:
        return other.coarser_than(self)

    def covers(self, other: Grain) -> bool:
        """Whether each window of this grain is a whole number of windows of the other.

        Days cover hours, weeks cover days, and months do not cover weeks. In another zone edges
        need not meet, so grains of different zones never cover one another.
        """
        if self.zone != other.zone:
            return False
        if self.unit == "minutes" or other.unit == "minutes":
            return self.nominal_minutes % other.nominal_minutes == 0
        return other.unit in {self.unit, "day"}

    def divides(self, coarser: Grain) -> bool:
        """Whether windows of this grain fill each window of the coarser one exactly."""
        return coarser.covers(self)

    @property
    def _fine(self) -> bool:
        return self.unit == "minutes" and self.minutes <= _HOUR

    def _floor(self, moment: datetime) -> datetime:
        zone = zone_named(self.zone)
        if self._fine:
            moment = moment.replace(microsecond=0)
            edge = moment - self._past_edge(wall_clock(moment, zone))
            return _clock_change(edge, moment, zone) or edge
        return instant_of(self._wall_at(moment, zone), zone)

    def _edge_after(self, edge: datetime) -> datetime:
        zone = zone_named(self.zone)
        if self._fine:
            span = timedelta(minutes=self.minutes)
            after = edge + span - self._past_edge(wall_clock(edge, zone))
            return _clock_change(edge, after, zone) or after
        wall = self._wall_at(edge, zone)
        while True:
            wall = self._wall_after(wall)
            # Where clocks skip a whole day (Samoa, 2011) the day's two edges are one instant.
            if (after := instant_of(wall, zone)) > edge:
                return after

    def _past_edge(self, wall: datetime) -> timedelta:
        return timedelta(minutes=wall.minute % self.minutes, seconds=wall.second)

    def _wall_at(self, moment: datetime, zone: ZoneInfo) -> datetime:
        """What clocks show at the last edge up to the moment, or should if they skip it."""
        wall = self._wall_floor(wall_clock(moment, zone))
        # Clocks set back over an edge (Newfoundland, at 00:01) show the time before it again,
        # while the window that began there goes on.
        while instant_of(after := self._wall_after(wall), zone) <= moment:
            wall = after
        return wall

    def _wall_floor(self, wall: datetime) -> datetime:
        midnight = datetime.combine(wall.date(), time.min)
        if self.unit == "minutes":
            hours = self.minutes // _HOUR
            return midnight + timedelta(hours=wall.hour // hours * hours)
        if self.unit == "week":
            return midnight - timedelta(days=wall.weekday())
        return midnight.replace(day=1) if self.unit == "month" else midnight

    def _wall_after(self, wall: datetime) -> datetime:
        if self.unit == "month":
            return datetime.combine(month_after(wall.date()), time.min)
        return wall + timedelta(minutes=self.nominal_minutes)

    def _fine_windows(self, edge: datetime, last: datetime) -> Iterator[Window]:
        zone, name = zone_named(self.zone), self.zone
        span = timedelta(minutes=self.minutes)
        while edge < last:
            steady = not self._past_edge(wall_clock(edge, zone)) and (
                _offset(edge, zone) == _offset(edge + _STRETCH, zone)
            )
            for _ in range(_STRETCH // span if steady else 1):
                if edge >= last:
                    return
                after = edge + span if steady else self._edge_after(edge)
                yield Window(start=edge, end=after, zone=name)
                edge = after

    def _wall_windows(self, edge: datetime, last: datetime) -> Iterator[Window]:
        while edge < last:
            after = self._edge_after(edge)
            yield Window(start=edge, end=after, zone=self.zone)
            edge = after


def parse_instant(text: str, *, zone: str = "UTC") -> datetime:
    """The instant that a person wrote, in UTC; what has no offset is meant in the zone."""
    place = zone_named(zone)
    found = _INSTANT.fullmatch(text)
    if found is None:
        _refuse_instant(f"{text!r} is not a date or time in a form that is read here.")
    day, clock, offset = found.groups()
    try:
        wall = datetime.fromisoformat(f"{day}T{clock or '00:00'}")
    except ValueError as why:
        _refuse_instant(f"{text!r} is not in the calendar: {why}.")
    if not FIRST_YEAR <= wall.year <= LAST_YEAR:
        _refuse_instant(f"{text!r} lies outside the years {FIRST_YEAR:04} to {LAST_YEAR}.")
    if offset is None:
        return as_utc(instant_of(wall, place))
    return as_utc(datetime.fromisoformat(f"{wall.isoformat()}{offset.replace('Z', '+00:00')}"))


def _offset(instant: datetime, zone: ZoneInfo) -> timedelta:
    return wall_clock(instant, zone) - instant.replace(tzinfo=None)


def _clock_change(low: datetime, high: datetime, zone: ZoneInfo) -> datetime | None:
    """The instant after `low` and up to `high` at which clocks are moved, if they are."""
    usual = _offset(low, zone)
    if _offset(high, zone) == usual:
        return None
    return earliest(low, high, lambda instant: _offset(instant, zone) != usual)


def _counted(written: str) -> tuple[Unit, int] | None:
    found = _COUNTED.fullmatch(written)
    if found is None:
        return None
    count, hours, unit = int(found[1]), found[2], found[3]
    if unit:
        return _NAMES[unit] if count == 1 else None
    total = count * (_HOUR if hours else 1)
    if total == _DAY:
        return "day", 0
    return ("minutes", total) if total in _SPANS else None


def _refuse(written: str) -> NoReturn:
    spans = [str(Grain(unit="minutes", minutes=span)) for span in _SPANS]
    accepted = [*spans, "day", "week", "month"]
    hint = ""
    if re.match(r"\s*[0-9]+\s*(min|h)", written):
        hint = " Minutes must divide an hour, and hours a day."
    elif near := difflib.get_close_matches(written.strip().lower(), [*accepted, *_NAMES], n=1):
        hint = f" Did you mean {near[0]!r}?"
    raise UsageError(f"{written!r} is not a grain.{hint} Accepted are {', '.join(accepted)}.")


def _refuse_instant(problem: str) -> NoReturn:
    raise UsageError(
        f"{problem} Accepted are 2026-04-25 and 2026-04-25T13:00, both in the time zone of the "
        "grain, and 2026-04-25T13:00:00Z or 2026-04-25T13:00+02:00; seconds may be left out."
    ) from None
