"""What backfills have used: windows, rows, bytes, seconds, money; by tag, task or person. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from setpoint.ledger.backfill import Backfill, Job
    from setpoint.model.settings import CostSettings

By = Literal["tag", "task", "requested-by"]
NOBODY = "(nobody named)"
UNTAGGED = "(no tag)"
GOOD = ("succeeded", "adopted")


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What some jobs took together. Failed tries cost time too, and are in the seconds."""

    name: str
    windows: int = 0
    rows: int = 0
    bytes_read: int | None = None
    bytes_written: int | None = None
    seconds: float = 0.0
    cost: float | None = None
    currency: str = ""

    def document(self) -> dict[str, object]:
        """As documented for `--output json`."""
        return dict(vars(self))


def usage(name: str, jobs: Iterable[Job], settings: CostSettings) -> Usage:
    """The sum of some jobs."""
    listed = list(jobs)
    good = [job for job in listed if job.state in GOOD]
    seconds = sum(job.seconds or 0 for job in listed)
    return Usage(
        name=name,
        windows=sum(job.windows for job in good),
        rows=sum(job.rows_written or 0 for job in good),
        bytes_read=_known(job.bytes_read for job in listed),
        bytes_written=_known(job.bytes_written for job in listed),
        seconds=seconds,
        cost=None if settings.per_hour is None else seconds / 3600 * settings.per_hour,
        currency=settings.currency,
    )


def usages(
    by: By, jobs: Iterable[Job], backfills: Mapping[str, Backfill], settings: CostSettings
) -> list[Usage]:
    """A sum for each tag, task or person; a backfill of two tags counts for both."""
    grouped: dict[str, list[Job]] = {}
    for job in jobs:
        for name in _names(by, job, backfills.get(job.backfill_id)):
            grouped.setdefault(name, []).append(job)
    found = [usage(name, listed, settings) for name, listed in grouped.items()]
    return sorted(found, key=lambda each: (-each.seconds, each.name))


def _names(by: By, job: Job, backfill: Backfill | None) -> list[str]:
    if by == "task":
        return [job.task]
    if by == "requested-by":
        return [(backfill.requested_by if backfill else None) or NOBODY]
    tags = backfill.tags if backfill else {}
    return [f"{key}={value}" for key, value in tags.items()] or [UNTAGGED]


def _known(sizes: Iterable[int | None]) -> int | None:
    found = [size for size in sizes if size is not None]
    return sum(found) if found else None
