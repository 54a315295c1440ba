"""Which job may go next: upstream before downstream, window by window as data allows. Pure."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from setpoint.model.dependence import overlap, reads_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setpoint.backfilling.batching import Batch
    from setpoint.backfilling.plan import BackfillPlan, TaskPlan
    from setpoint.model.window import Window


@dataclass(frozen=True, kw_only=True)
class Item:
    """One batch of one task."""

    plan: TaskPlan
    number: int
    """Its place among the task's batches, oldest first."""

    @property
    def batch(self) -> Batch:
        """The stretch of windows."""
        return self.plan.batches[self.number]

    @property
    def windows(self) -> tuple[Window | None, ...]:
        """The windows of the batch."""
        return self.plan.windows[self.batch.first : self.batch.stop]


@dataclass
class _Edge:
    """Which upstream batches each batch of a reader waits for: `low[n]` to `high[n]`."""

    low: list[int]
    high: list[int]

    def readers_of(self, number: int) -> range:
        """The reader's batches that wait for this upstream batch; both lists only grow."""
        return range(bisect_right(self.high, number), bisect_right(self.low, number))


@dataclass
class _Lane:
    plan: TaskPlan
    depth: int
    waits: list[int] = field(default_factory=list)
    """For each batch how many upstream batches are not done yet."""
    running: int = 0


class Schedule:
    """Gives out jobs as soon as what they read is there; hears how they ended."""

    def __init__(self, plan: BackfillPlan) -> None:
        self._backwards = plan.request.backwards
        self._lanes = {
            each.task.name: _Lane(plan=each, depth=depth) for depth, each in enumerate(plan.tasks)
        }
        self._edges: dict[tuple[str, str], _Edge] = {}
        self._ready: list[tuple[float, int, int, str]] = []
        self._bad: dict[str, list[Window | None]] = {name: [] for name in self._lanes}
        self._settled: dict[tuple[str, int], list[Window | None]] = {}
        self._total = plan.jobs
        for name, lane in self._lanes.items():
            lane.waits = [0] * len(lane.plan.batches)
            for above in plan.upstream[name]:
                edge = _edge(self._lanes[above].plan, lane.plan)
                self._edges[above, name] = edge
                for number, (low, high) in enumerate(zip(edge.low, edge.high, strict=True)):
                    lane.waits[number] += high - low
        for name, lane in self._lanes.items():
            for number, waits in enumerate(lane.waits):
                if not waits:
                    self._offer(name, number)

    @property
    def over(self) -> bool:
        """Whether every job has ended."""
        return len(self._settled) == self._total

    def take(self) -> Item | None:
        """The next job that may begin now, in order of time and then upstream first."""
        held = []
        found = None
        while self._ready and found is None:
            entry = heapq.heappop(self._ready)
            lane = self._lanes[entry[3]]
            if (entry[3], entry[2]) in self._settled:
                continue
            if lane.running >= lane.plan.together:
                held.append(entry)
                continue
            lane.running += 1
            found = Item(plan=lane.plan, number=entry[2])
        for entry in held:
            heapq.heappush(self._ready, entry)
        return found

    def ended(self, item: Item, failed: Iterable[Window | None] = ()) -> None:
        """A job has ended; what reads only its good windows may go on."""
        self._lanes[item.plan.task.name].running -= 1
        self._settle(item.plan.task.name, item.number, list(failed))

    def replanned(self, plan: BackfillPlan) -> Schedule:
        """The schedule of a changed plan; what has ended stays ended. No job may be running.

        Only tasks of which no job has ended may have other batches than before.
        """
        again = Schedule(plan)
        for (name, number), failed in self._settled.items():
            again._settle(name, number, failed)
        return again

    def _settle(self, name: str, number: int, failed: list[Window | None]) -> None:
        self._settled[name, number] = failed
        self._bad[name] += failed
        for (above, reader), edge in self._edges.items():
            if above == name:
                lane = self._lanes[reader]
                for waiting in edge.readers_of(number):
                    lane.waits[waiting] -= 1
                    if not lane.waits[waiting]:
                        self._offer(reader, waiting)

    def blocked(self, item: Item) -> dict[Window | None, str]:
        """The windows of a job that cannot be run, and the task that did not succeed for them."""
        found: dict[Window | None, str] = {}
        for above, reader in self._edges:
            bad = self._bad[above]
            if reader != item.plan.task.name or not bad:
                continue
            whole = reads_whole(item.plan.task, self._lanes[above].plan.task)
            for window in item.windows:
                if whole or any(overlap(window, other) for other in bad):
                    found.setdefault(window, above)
        return found

    def _offer(self, name: str, number: int) -> None:
        lane = self._lanes[name]
        span = lane.plan.span(lane.plan.batches[number])
        # By the end of the stretch: a day comes right after its last hour, not after all hours.
        if span is None:
            place = float("inf")
        else:
            place = -span.start.timestamp() if self._backwards else span.end.timestamp()
        heapq.heappush(self._ready, (place, lane.depth, number, name))


def _edge(above: TaskPlan, reader: TaskPlan) -> _Edge:
    """For each batch of the reader the upstream batches that hold rows which it reads."""
    count = len(above.batches)
    if reads_whole(reader.task, above.task):
        return _Edge(low=[0] * len(reader.batches), high=[count] * len(reader.batches))
    spans = [above.span(batch) for batch in above.batches]
    starts = [span.start for span in spans if span]
    ends = [span.end for span in spans if span]
    low, high = [], []
    for batch in reader.batches:
        span = reader.span(batch)
        if span is None:
            low.append(0)
            high.append(count)
        else:
            low.append(bisect_right(ends, span.start))
            high.append(max(low[-1], bisect_left(starts, span.end)))
    return _Edge(low=low, high=high)
