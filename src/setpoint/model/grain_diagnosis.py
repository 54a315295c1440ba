"""Diagnosing a table's grain: how often its partitions were written against how often they should.

A job that runs hourly and overwrites a partition of a day leaves the last hour's rows alone in it.
The table's own history shows it: one partition was replaced many times on one day, by commits about
an hour apart. Runs of Setpoint set whole windows, so its own repetitions are counted apart.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

MANY = 3
"""A partition replaced this often on one day was not merely run again."""
DAY = timedelta(days=1)
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 — counted, not told
LENGTHS = (
    (re.compile(r"\d{4}-\d{2}-\d{2}-\d{2}$"), "hour", timedelta(hours=1)),
    (re.compile(r"\d{4}-\d{2}-\d{2}$"), "day", DAY),
    (re.compile(r"\d{4}-\d{2}$"), "month", 28 * DAY),
)
CADENCES = (
    (timedelta(minutes=22), "quarter-hourly or faster"),
    (timedelta(minutes=45), "half-hourly"),
    (timedelta(hours=3), "hourly"),
    (timedelta(hours=20), "several-times-a-day"),
)


@dataclass(frozen=True, kw_only=True)
class PartitionWrite:
    """One commit's effect on one partition."""

    partition: str
    at: datetime
    replaced: bool
    """Whether rows of the partition were removed, not only added."""
    run_id: str | None = None
    """The run of Setpoint that made the commit, if one did."""


@dataclass(frozen=True, kw_only=True)
class DayOfWrites:
    """The writes of one day: how many there were, and how many there should have been."""

    day: date
    partitions: int
    writes: int
    most: int
    """Writes to the partition that was written most often."""
    by_setpoint: int

    @property
    def expected(self) -> int:
        """One write for each partition that was written."""
        return self.partitions


@dataclass(frozen=True, kw_only=True)
class GrainDiagnosis:
    """The days, newest first, and what is wrong in words."""

    days: tuple[DayOfWrites, ...]
    problems: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """As documented for `--output json`."""
        days = [
            {
                "day": day.day.isoformat(),
                "partitions": day.partitions,
                "writes": day.writes,
                "expected": day.expected,
                "most_to_one_partition": day.most,
                "by_setpoint": day.by_setpoint,
            }
            for day in self.days
        ]
        return {"days": days, "problems": list(self.problems)}


def partition_name(values: Mapping[str, Any]) -> str:
    """A partition as people write it: `order_date=2026-04-25`, hours and months counted out."""
    return "/".join(f"{name}={_value(name, value)}" for name, value in values.items())


def _value(name: str, value: Any) -> str:
    if isinstance(value, int) and name.endswith("_hour"):
        return (EPOCH + timedelta(hours=value)).strftime("%Y-%m-%d-%H")
    if isinstance(value, int) and name.endswith("_month"):
        return f"{EPOCH.year + value // 12:04}-{value % 12 + 1:02}"
    return str(value)


def diagnose_grain(writes: Iterable[PartitionWrite]) -> GrainDiagnosis:
    """Count partition writes a day, and say which partitions a finer job has overwritten."""
    by_day: dict[date, list[PartitionWrite]] = defaultdict(list)
    for write in writes:
        by_day[write.at.date()].append(write)
    problems: dict[str, None] = {}
    days = []
    for day in sorted(by_day, reverse=True):
        groups: dict[str, list[PartitionWrite]] = defaultdict(list)
        for write in by_day[day]:
            groups[write.partition].append(write)
        days.append(
            DayOfWrites(
                day=day,
                partitions=len(groups),
                writes=len(by_day[day]),
                most=max(map(len, groups.values())),
                by_setpoint=sum(write.run_id is not None for write in by_day[day]),
            )
        )
        for partition in sorted(groups):
            problem = _problem(partition, groups[partition])
            if problem:
                problems.setdefault(problem)
    return GrainDiagnosis(days=tuple(days), problems=tuple(problems))


def _problem(partition: str, writes: list[PartitionWrite]) -> str | None:
    times = sorted(write.at for write in writes if write.replaced and write.run_id is None)
    if len(times) < MANY:
        return None
    gap = timedelta(seconds=median((b - a).total_seconds() for a, b in itertools.pairwise(times)))
    length = next((found for found in LENGTHS if found[0].search(partition)), None)
    if length is None or gap >= length[2]:
        return None
    cadence = next((word for limit, word in CADENCES if gap < limit), "repeated")
    article = "an" if cadence == "hourly" else "a"
    return (
        f"{partition} was overwritten {len(times)} times on {times[0].date().isoformat()}: "
        f"{article} {cadence} job overwrites a partition of a whole {length[1]}, and only the rows "
        "of its last run are left; expected 1 write"
    )
