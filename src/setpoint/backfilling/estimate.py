"""What a backfill will probably take: from table metadata and from past runs. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from setpoint.backfilling.plan import BackfillPlan, TaskPlan
    from setpoint.engine.table_size import TableSize
    from setpoint.ledger.backfill import Job
    from setpoint.ledger.record import Run


@dataclass(frozen=True, kw_only=True)
class PastRuns:
    """What windows of a task took before."""

    windows: int
    rows: int
    seconds: float
    bytes_read: int | None = None


@dataclass(frozen=True, kw_only=True)
class TaskEstimate:
    """An estimate for one task, each figure with what it rests on, or None."""

    task: str
    rows: int | None
    bytes: int | None
    seconds: float | None
    basis: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The estimate of a whole backfill; a figure is None when a part of it has no basis."""

    tasks: tuple[TaskEstimate, ...]
    cost: float | None
    currency: str

    @property
    def seconds(self) -> float | None:
        """Seconds of Spark time."""
        return _total([each.seconds for each in self.tasks])

    @property
    def rows(self) -> int | None:
        """Rows to be written."""
        total = _total([each.rows for each in self.tasks])
        return None if total is None else int(total)

    @property
    def bytes(self) -> int | None:
        """Bytes in the tables that are read, at most."""
        total = _total([each.bytes for each in self.tasks])
        return None if total is None else int(total)

    def document(self) -> dict[str, object]:
        """As documented for `--output json`."""
        return {
            "rows": self.rows,
            "bytes": self.bytes,
            "seconds": self.seconds,
            "cost": self.cost,
            "currency": self.currency,
            "tasks": [vars(each) | {"basis": list(each.basis)} for each in self.tasks],
        }


def estimate(
    plan: BackfillPlan,
    *,
    past: Mapping[str, PastRuns],
    sizes: Mapping[str, TableSize],
    rate_per_hour: float | None,
    currency: str,
) -> Estimate:
    """What the plan will probably take."""
    tasks = tuple(
        _task_estimate(each, past.get(each.task.name), sizes) for each in plan.tasks if each.windows
    )
    seconds = _total([each.seconds for each in tasks])
    cost = None
    if rate_per_hour is not None and seconds is not None:
        cost = seconds / 3600 * rate_per_hour
    return Estimate(tasks=tasks, cost=cost, currency=currency)


def past_runs(jobs: Iterable[Job], runs: Iterable[Run]) -> PastRuns | None:
    """What windows took: by the jobs of backfills when there were any, else by single runs."""
    ended = [job for job in jobs if job.state == "succeeded" and job.seconds is not None]
    if ended:
        read = [job.bytes_read for job in ended]
        return PastRuns(
            windows=sum(job.windows for job in ended),
            rows=sum(job.rows_written or 0 for job in ended),
            seconds=sum(job.seconds or 0 for job in ended),
            bytes_read=sum(b for b in read if b) if all(b is not None for b in read) else None,
        )
    good = [run for run in runs if run.state == "succeeded" and run.seconds is not None]
    if not good:
        return None
    return PastRuns(
        windows=len(good),
        rows=sum(run.rows or 0 for run in good),
        seconds=sum(run.seconds or 0 for run in good),
    )


def _task_estimate(
    plan: TaskPlan, past: PastRuns | None, sizes: Mapping[str, TableSize]
) -> TaskEstimate:
    windows = len(plan.windows)
    basis = []
    rows = seconds = None
    if past:
        rows = round(past.rows / past.windows * windows)
        seconds = past.seconds / past.windows * windows
        basis.append(f"rows and seconds: {past.windows:,} windows that ran before")
    else:
        basis.append("rows and seconds: no basis, no window has run yet")
    tables = [str(source.table) for source in plan.task.sources]
    known = [sizes[table] for table in tables if table in sizes]
    size = None
    if past and past.bytes_read is not None:
        size = round(past.bytes_read / past.windows * windows)
        basis.append("bytes: what those windows read")
    elif tables and len(known) == len(tables):
        size = sum(each.bytes for each in known)
        basis.append("bytes: the whole of the tables that are read, by their metadata")
    else:
        missing = [table for table in tables if table not in sizes]
        basis.append(f"bytes: no basis for {', '.join(missing) or 'a task without sources'}")
    return TaskEstimate(
        task=plan.task.name, rows=rows, bytes=size, seconds=seconds, basis=tuple(basis)
    )


def _total(parts: Sequence[float | None]) -> float | None:
    return None if any(part is None for part in parts) else sum(part or 0 for part in parts)
