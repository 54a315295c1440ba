"""Cutting windows into batches: contiguous, of even size, none longer than asked. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from setpoint.model.grain import Grain
    from setpoint.model.window import Window

# Enough that a year of days is four jobs, few enough that a stop loses little.
FEWEST_DEFAULT = 100
DEFAULT_MINUTES = 30 * 1440
# An Iceberg commit names the partitions it wrote up to a limit that Setpoint sets.
MOST = 10_000
# What one job may be estimated to read when nobody chose a size.
MOST_BYTES = 8 << 30


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A stretch of a task's windows that one job sets: `windows[first:stop]` of its plan."""

    first: int
    stop: int

    @property
    def count(self) -> int:
        """How many windows it holds."""
        return self.stop - self.first


def default_size(grain: Grain | None, *, window_bytes: float | None = None) -> int:
    """How many windows a job takes: a month of them, at least 100, no more than 8 GiB to read."""
    if grain is None:
        return 1
    size = min(MOST, max(FEWEST_DEFAULT, DEFAULT_MINUTES // grain.nominal_minutes))
    if window_bytes:
        size = min(size, max(1, int(MOST_BYTES / window_bytes)))
    return size


def batches(windows: Sequence[Window | None], size: int) -> Iterator[Batch]:
    """Batches of at most `size` contiguous windows, those of one stretch nearly equal."""
    for first, stop in stretches(windows):
        count = stop - first
        parts = -(-count // size)
        for number in range(parts):
            yield Batch(
                first=first + count * number // parts, stop=first + count * (number + 1) // parts
            )


def stretches(windows: Sequence[Window | None]) -> Iterator[tuple[int, int]]:
    """Where contiguous windows begin and end in the list."""
    first = 0
    for number in range(1, len(windows) + 1):
        if number < len(windows):
            before, after = windows[number - 1], windows[number]
            if before is not None and after is not None and before.end == after.start:
                continue
        yield first, number
        first = number
