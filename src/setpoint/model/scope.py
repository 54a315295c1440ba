"""Bounds of a window as a filter: what a task may read, and what it owns in its target."""

from __future__ import annotations

from datetime import datetime, time, timezone
from enum import Enum
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from setpoint.errors import ResultMisshapen
from setpoint.model.table import quote

if TYPE_CHECKING:
    from setpoint.model.window import Window


class ColumnKind(str, Enum):
    """The kinds of column that can be bounded by a window."""

    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp_ntz"
    STRING = "string"

    @classmethod
    def of(cls, spark_type: str) -> ColumnKind | None:
        """The kind of a Spark type by its simple name, or None when it cannot be bounded."""
        return next((kind for kind in cls if kind.value == spark_type), None)


def usual_kind(window: Window) -> ColumnKind:
    """The kind of column such a window is mostly kept in: dates for whole days."""
    return ColumnKind.DATE if whole_days(window) else ColumnKind.TIMESTAMP


def whole_days(window: Window) -> bool:
    """Whether the window begins and ends with a day of its zone."""
    return all(_begins_day(edge, window.zone) for edge in (window.start, window.end))


def bounds_sql(column: str, kind: ColumnKind, window: Window) -> str:
    """The filter `lower <= column < upper` in Spark SQL, in the literals of the column's kind."""
    name = quote(column)
    lower, upper = (_literal(edge, kind, window.zone) for edge in (window.start, window.end))
    if kind in (ColumnKind.DATE, ColumnKind.STRING) and not whole_days(window):
        raise ResultMisshapen(
            f"{column} is a {kind.value.upper()}: it cannot tell apart windows shorter than a day",
            facts={
                "expected": "a TIMESTAMP column, or a grain of a day or longer",
                "found": f"{kind.value.upper()} with the window {window.label}",
            },
            next_step='use a timestamp column, or grain="day"',
        )
    return f"{name} >= {lower} AND {name} < {upper}"


def _begins_day(edge: datetime, zone: str) -> bool:
    """Whether the edge is the first instant of its local day."""
    place = ZoneInfo(zone)
    midnight = datetime.combine(edge.astimezone(place).date(), time(), place)
    return edge == midnight.astimezone(timezone.utc)


def _literal(edge: datetime, kind: ColumnKind, zone: str) -> str:
    local = edge.astimezone(ZoneInfo(zone))
    if kind is ColumnKind.DATE:
        return f"DATE '{local.date().isoformat()}'"
    if kind is ColumnKind.STRING:
        return f"'{local.date().isoformat()}'"
    if kind is ColumnKind.TIMESTAMP_NTZ:
        return f"TIMESTAMP_NTZ '{local.replace(tzinfo=None).isoformat(sep=' ')}'"
    utc = edge.astimezone(timezone.utc).replace(tzinfo=None)
    return f"TIMESTAMP '{utc.isoformat(sep=' ')}Z'"
