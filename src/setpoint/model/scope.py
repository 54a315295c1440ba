"""Bounds of a window as a filter: what a task may read, and what it owns in its target."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, time, timezone
from enum import Enum
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from setpoint.errors import ResultMisshapen
from setpoint.model.table import quote
from setpoint.model.write import window_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setpoint.model.task import BoundSource, Task
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


@dataclass(frozen=True, kw_only=True)
class Kinds:
    """The kinds of a task's time columns: the one it overwrites by, and each source's."""

    target: ColumnKind | None = None
    sources: Mapping[str, ColumnKind] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """As kept in the ledger, so that `explain` knows them without Spark."""
        sources = {name: kind.value for name, kind in self.sources.items()}
        return {"target": self.target.value if self.target else None, "sources": sources}

    @classmethod
    def of_document(cls, document: Any) -> Kinds:
        """Read back what `document` wrote; what is not understood is left out."""
        if not isinstance(document, dict):
            return cls()
        sources = document.get("sources") or {}
        kinds = {name: ColumnKind.of(str(text)) for name, text in sources.items()}
        return cls(
            target=ColumnKind.of(str(document.get("target"))),
            sources={name: kind for name, kind in kinds.items() if kind},
        )


def usual_kind(window: Window) -> ColumnKind:
    """The kind of column such a window is mostly kept in: dates for whole days."""
    return ColumnKind.DATE if whole_days(window) else ColumnKind.TIMESTAMP


def whole_days(window: Window) -> bool:
    """Whether the window begins and ends with a day of its zone."""
    return all(_begins_day(edge, window.zone) for edge in (window.start, window.end))


def bounds_sql(column: str, kind: ColumnKind, window: Window) -> str:
    """The filter `lower <= column < upper` in Spark SQL, in the literals of the column's kind."""
    name = quote(column)
    check_boundable(column, kind, window)
    lower, upper = (_literal(edge, kind, window.zone) for edge in (window.start, window.end))
    return f"{name} >= {lower} AND {name} < {upper}"


def check_boundable(column: str, kind: ColumnKind, window: Window) -> None:
    """Refuse a column that cannot tell the window from its neighbours."""
    if kind in (ColumnKind.DATE, ColumnKind.STRING) and not whole_days(window):
        raise ResultMisshapen(
            f"{column} is a {kind.value.upper()}: it cannot tell apart windows shorter than a day",
            facts={
                "expected": "a TIMESTAMP column, or a grain of a day or longer",
                "found": f"{kind.value.upper()} with the window {window.label}",
            },
            next_step='use a timestamp column, or grain="day"',
        )


def before_sql(column: str, kind: ColumnKind, window: Window) -> str:
    """The filter of what lies before the window."""
    return f"{quote(column)} < {_literal(window.start, kind, window.zone)}"


def source_bounds(
    source: BoundSource, window: Window | None, kind: ColumnKind | None
) -> str | None:
    """The filter by which a source is read; None when it is read whole."""
    if source.event_time is None or window is None:
        return None
    return bounds_sql(source.event_time, kind or ColumnKind.TIMESTAMP, window)


def owned_scope(task: Task, window: Window | None, kind: ColumnKind | None) -> str | None:
    """The filter of the rows that a run owns in its target; None for the whole table."""
    by = window_column(task.write)
    if by is None or window is None:
        return None
    return bounds_sql(by, kind or usual_kind(window), window)


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
