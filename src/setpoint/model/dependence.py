"""Which windows of one task the windows of another are read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setpoint.model.task import Task
    from setpoint.model.window import Window


def reads_whole(reader: Task, above: Task) -> bool:
    """Whether the reader's rows may come from any window of the task above it."""
    if above.grain is None or reader.grain is None:
        return True
    sources = [s.event_time for s in reader.sources if s.table == above.target]
    return not sources or any(event_time is None for event_time in sources)


def overlap(one: Window | None, other: Window | None) -> bool:
    """Whether two windows share an instant; None is all of time."""
    return one is None or other is None or one.overlaps(other)


def reads(reader: Task, window: Window | None, above: Task, other: Window | None) -> bool:
    """Whether a window of the reader may hold rows of a window of the task above it."""
    return overlap(window, other) or reads_whole(reader, above)
