"""Stale windows: written by other code, or from inputs that have changed since."""

from __future__ import annotations

from bisect import bisect_right
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from setpoint.engine.protocol import SourceChange
    from setpoint.ledger.protocol import LedgerReader
    from setpoint.ledger.record import Standing
    from setpoint.model.graph import Graph
    from setpoint.model.task import BoundSource, Task
    from setpoint.model.window import Window

CODE = "the task's code has changed since"


class Staleness:
    """Says of each window of a task why it is stale, if it is."""

    def __init__(
        self,
        *,
        graph: Graph,
        task: Task,
        ledger: LedgerReader,
        changes: Callable[[BoundSource], list[SourceChange] | None] | None,
    ) -> None:
        self._task = task
        self._ledger = ledger
        self._changes = changes
        self._writers = {
            source.name: writer
            for source in task.sources
            for writer in graph.upstream[task.name]
            if graph.tasks[writer].target == source.table
        }
        self._histories: dict[str, list[SourceChange] | None] = {}
        self._standings: dict[str, Upstream] = {}

    def why(self, window: Window, standing: Standing) -> str | None:
        """Why the window is stale; None when its code and inputs are as they were."""
        if standing.fingerprint != self._task.fingerprint:
            return CODE
        inputs: Mapping[str, str] | None = None
        for source in self._task.sources:
            if source.name in self._writers:
                if self._upstream(source).set_since(window, standing.fence):
                    return f"{self._writers[source.name]} has set it again since"
                continue
            if self._changes is None:
                continue
            if inputs is None:
                inputs = self._inputs(window)
            seen = inputs.get(".".join(source.table.parts))
            if seen is not None and changed_since(window, str(seen), self._history(source)):
                return f"{source.table} has changed since"
        return None

    def _inputs(self, window: Window) -> Mapping[str, str]:
        run = self._ledger.scope(self._task.name, window.start, window.end)
        found = run.detail.get("inputs") if run else None
        return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}

    def _history(self, source: BoundSource) -> list[SourceChange] | None:
        if source.name not in self._histories:
            self._histories[source.name] = self._changes(source) if self._changes else None
        return self._histories[source.name]

    def _upstream(self, source: BoundSource) -> Upstream:
        if source.name not in self._standings:
            far = datetime.fromisoformat("0002-01-01T00:00:00+00:00")
            late = datetime.fromisoformat("9998-01-01T00:00:00+00:00")
            found = self._ledger.standings(self._writers[source.name], far, late)
            self._standings[source.name] = Upstream(found, whole=source.event_time is None)
        return self._standings[source.name]


class Upstream:
    """When each stretch of a source was last set by the task that writes it."""

    def __init__(self, standings: Sequence[Standing], *, whole: bool) -> None:
        self._done = [each for each in standings if each.state == "succeeded"]
        self._ends = [each.window_end for each in self._done]
        self._newest = max((each.fence for each in self._done), default=0)
        self._whole = whole

    def set_since(self, window: Window, fence: int) -> bool:
        """Whether some of what the window reads was set with a later fence."""
        if self._newest <= fence:
            return False
        if self._whole:
            return True
        start, end = window.start.isoformat(), window.end.isoformat()
        for each in self._done[bisect_right(self._ends, start) :]:
            if each.window_start >= end:
                return False
            if each.fence > fence:
                return True
        return False


def changed_since(window: Window, seen: str, history: Sequence[SourceChange] | None) -> bool:
    """Whether a commit after the snapshot that was read touched event times of the window.

    A snapshot that has expired says nothing; the window is then taken for stale, since setting it
    again costs time and leaving it could be wrong.
    """
    if history is None:
        return False
    place = next((n for n, each in enumerate(history) if each.snapshot == seen), None)
    if place is None:
        return True
    return any(
        each.start is None
        or each.end is None
        or (each.start < window.end and window.start < each.end)
        for each in history[place + 1 :]
    )
