"""Rows by window, from counts by partition or by stretches of time. Pure."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING
from urllib.parse import unquote

from setpoint.model.scope import ColumnKind
from setpoint.model.window import instant_of, month_after, zone_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setpoint.model.window import Window

_TRANSFORMS = ("", "_day", "_hour", "_month")
_HOUR = re.compile(r"(\d{4}-\d{2}-\d{2})-(\d{2})\Z")
_MONTH = re.compile(r"(\d{4})-(\d{2})\Z")


@dataclass(frozen=True, kw_only=True)
class WindowCount:
    """What a job did in one of its windows."""

    window: Window
    rows: int
    replaced: int | None
    """Rows that stood there before; None when the target does not tell."""


def by_partition(
    windows: Sequence[Window],
    by: str,
    kind: ColumnKind,
    added: Mapping[str, int],
    removed: Mapping[str, int],
) -> list[WindowCount] | None:
    """Counts of partitions as counts of windows; None when a partition is not within one window."""
    starts = [window.start for window in windows]
    rows, replaced = [0] * len(windows), [0] * len(windows)
    for counts, totals in ((added, rows), (removed, replaced)):
        for name, count in counts.items():
            span = _span(name, by, kind, windows[0].zone)
            place = bisect_right(starts, span[0]) - 1 if span else -1
            if span is None or place < 0 or span[1] > windows[place].end:
                return None
            totals[place] += count
    return [
        WindowCount(window=window, rows=one, replaced=other)
        for window, one, other in zip(windows, rows, replaced, strict=True)
    ]


def stretch_seconds(windows: Sequence[Window]) -> int:
    """The longest stretch of seconds of which every window is a whole number, from the first on."""
    first = windows[0].start
    edges = (window.end - first for window in windows)
    return math.gcd(*(edge // timedelta(seconds=1) for edge in edges))


def by_stretch(
    windows: Sequence[Window], added: Mapping[int, int], removed: Mapping[int, int]
) -> list[WindowCount]:
    """Counts by numbered stretches of `stretch_seconds`, as counts of windows."""
    step = timedelta(seconds=stretch_seconds(windows))
    starts = [(window.start - windows[0].start) // step for window in windows]
    rows, replaced = [0] * len(windows), [0] * len(windows)
    for counts, totals in ((added, rows), (removed, replaced)):
        for number, count in counts.items():
            totals[bisect_right(starts, number) - 1] += count
    return [
        WindowCount(window=window, rows=one, replaced=other)
        for window, one, other in zip(windows, rows, replaced, strict=True)
    ]


def _span(name: str, by: str, kind: ColumnKind, zone: str) -> tuple[datetime, datetime] | None:
    """The stretch of time that a partition such as `order_date=2026-04-25` holds."""
    for part in name.split("/"):
        field, _, value = part.partition("=")
        field = unquote(field).lower()
        transform = next((t for t in _TRANSFORMS if field == by.lower() + t), None)
        if transform is None:
            continue
        # A transform of an instant counts UTC days; a date is a day of the task's own zone.
        place = "UTC" if transform and kind is ColumnKind.TIMESTAMP else zone
        return _stretch(unquote(value), transform, place)
    return None


def _stretch(value: str, transform: str, zone: str) -> tuple[datetime, datetime] | None:
    try:
        if transform == "_hour":
            found = _HOUR.match(value)
            if found is None:
                return None
            first = datetime.combine(date.fromisoformat(found[1]), time(int(found[2])))
            last = first + timedelta(hours=1)
        elif transform == "_month":
            found = _MONTH.match(value)
            if found is None:
                return None
            month = date(int(found[1]), int(found[2]), 1)
            first = datetime.combine(month, time())
            last = datetime.combine(month_after(month), time())
        else:
            day = date.fromisoformat(value)
            first = datetime.combine(day, time())
            last = first + timedelta(days=1)
    except ValueError:
        return None
    if zone == "UTC":
        return first.replace(tzinfo=timezone.utc), last.replace(tzinfo=timezone.utc)
    place = zone_named(zone)
    return instant_of(first, place), instant_of(last, place)
