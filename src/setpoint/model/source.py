"""Sources: what a task reads, bounded to the window before the transform sees it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """A table to read. It has an `event_time` column to bound it by, or is `static`."""

    table: str
    event_time: str | None = None
    static: bool = False
    """A lookup without time: read whole."""
    arrival_time: str | None = None
    """When a row arrived, which may be long after its event: tells which rows are late."""
