"""A backfill's plan and result in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.cli.words import count_text, seconds_text
from setpoint.model.plan import WHOLE_TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.backfilling.cost import Usage
    from setpoint.backfilling.estimate import Estimate
    from setpoint.backfilling.plan import BackfillPlan, TaskPlan
    from setpoint.backfilling.result import BackfillResult

KIB = 1024
SHOWN = 20


def plan_lines(plan: BackfillPlan, *, details: bool = True) -> Iterator[str]:
    """What will be done, what is left out and why, and what it will probably take."""
    yield from plan.notes
    if plan.continues:
        yield f"going on with backfill {plan.continues}"
    for each in plan.tasks:
        yield from _task_lines(each, backwards=plan.request.backwards)
    if not plan.windows:
        yield "nothing to do"
        return
    if details and plan.estimate:
        yield from estimate_lines(plan.estimate)


def _task_lines(plan: TaskPlan, *, backwards: bool) -> Iterator[str]:
    name = plan.task.name
    windows = [window for window in plan.windows if window]
    if windows:
        first, last = (windows[-1], windows[0]) if backwards else (windows[0], windows[-1])
        jobs = f"{len(plan.batches):,} job{'s' if len(plan.batches) != 1 else ''}"
        yield f"{name}: {len(windows):,} windows, {first.label} to {last.label}, in {jobs}"
        yield f"  {plan.coalescing.why}"
    elif plan.windows:
        yield f"{name}: {WHOLE_TABLE}"
    for skip in plan.skips:
        span = skip.first if skip.windows == 1 else f"{skip.first} to {skip.last}"
        yield f"{name}: {skip.windows:,} skipped ({span}): {skip.reason}"
    if plan.windows and plan.readers:
        yield f"  read by {', '.join(plan.readers)}, not set again here"


def estimate_lines(estimate: Estimate) -> Iterator[str]:
    """The estimate, each figure with what it rests on."""
    parts = []
    if estimate.rows is not None:
        parts.append(f"about {estimate.rows:,} rows")
    if estimate.bytes is not None:
        parts.append(f"at most {size_text(estimate.bytes)} to read")
    if estimate.seconds is not None:
        parts.append(f"{seconds_text(estimate.seconds)} of Spark time")
    if estimate.cost is not None:
        parts.append(money_text(estimate.cost, estimate.currency))
    if parts:
        yield f"estimate: {', '.join(parts)}"
    for each in estimate.tasks:
        for basis in each.basis:
            yield f"  {each.task}: {basis}"


def result_lines(result: BackfillResult) -> Iterator[str]:
    """What came of it: windows by how they ended, those to blame, and what it took."""
    if result.state == "planned" or result.backfill_id is None:
        return
    counts = ", ".join(
        f"{result.count(state):,} {state}"
        for state in ("succeeded", "failed", "blocked")
        if result.count(state) or state == "succeeded"
    )
    yield f"backfill {result.backfill_id} {result.state}: windows {counts}"
    for each in result.failed[:SHOWN]:
        label = each.window.label if each.window else WHOLE_TABLE
        yield f"  failed  {each.task}  {label}  {each.error}"
    if len(result.failed) > SHOWN:
        yield f"  and {len(result.failed) - SHOWN:,} more: setpoint status --state failed"
    if result.usage:
        tags = ", ".join(f"{key}={value}" for key, value in result.plan.request.tags.items())
        yield f"used{tags and f' for {tags}'}: {usage_text(result.usage)}"
    if result.shadows and result.state == "succeeded":
        yield f"written aside: {', '.join(result.shadows)}"
        yield f"next: setpoint backfill diff {result.backfill_id}"
    elif result.state in ("paused", "failed"):
        yield f"next: setpoint backfill resume {result.backfill_id}"


def usage_text(usage: Usage) -> str:
    """What some jobs took, in one line."""
    parts = [f"{usage.windows:,} windows", f"{usage.rows:,} rows"]
    if usage.bytes_read is not None:
        parts.append(f"{size_text(usage.bytes_read)} read")
    if usage.bytes_written is not None:
        parts.append(f"{size_text(usage.bytes_written)} written")
    parts.append(f"{seconds_text(usage.seconds)} of Spark time")
    if usage.cost is not None:
        parts.append(money_text(usage.cost, usage.currency))
    return ", ".join(parts)


def size_text(size: int | None) -> str:
    """Bytes as people read them."""
    if size is None:
        return ""
    number = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < KIB:
            return f"{count_text(size)} B" if unit == "B" else f"{number:.1f} {unit}"
        number /= KIB
    return f"{number:.1f} TiB"


def money_text(cost: float, currency: str) -> str:
    """An amount in the project's currency."""
    return f"{cost:,.4f} {currency}".strip()
