"""Whether windows of a task may be computed together in one job. Pure decisions."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.ledger.backfill import Separability
from setpoint.model.checksum import WRAP, Checksum
from setpoint.model.write import Merge, window_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setpoint.model.task import Task
    from setpoint.model.window import Window

TO_PROBE = "not known yet: two windows are first computed alone and together"


@dataclass(frozen=True, kw_only=True)
class Coalescing:
    """Whether contiguous windows go into one job, and why."""

    possible: bool
    why: str
    probe: bool = False
    """Nobody knows yet: to be found out before the first job."""


def coalescing(task: Task, verdict: Separability | None) -> Coalescing:
    """Whether windows of the task are put together; what is known of its code decides."""
    why = one_window_reason(task)
    if why is not None:
        return Coalescing(possible=False, why=why)
    if verdict is None:
        return Coalescing(possible=True, why=TO_PROBE, probe=True)
    return Coalescing(possible=verdict.separable, why=verdict.evidence)


def one_window_reason(task: Task) -> str | None:
    """Why windows of the task are never put together; None when they may be."""
    reasons = {
        "the task has no windows": task.grain is None,
        "a merge has no window column by which its rows could be told apart": isinstance(
            task.write, Merge
        ),
        "each run sets the whole table": window_column(task.write) is None,
        "late rows are reported for each window": task.late is not None,
        "its effects are recorded window by window": bool(task.effects),
        "Postgres is locked and fenced window by window": task.catalog_type == "postgres",
    }
    return next((why for why, holds in reasons.items() if holds), None)


def probe_pairs(windows: Sequence[Window]) -> list[tuple[Window, Window]]:
    """Neighbours to try: in the middle first, then at the ends; windows may be empty there."""
    pairs = [(one, other) for one, other in itertools.pairwise(windows) if one.end == other.start]
    if not pairs:
        return []
    places = (len(pairs) // 2, 0, len(pairs) - 1)
    return [pairs[place] for place in dict.fromkeys(places)]


def judge(
    task: Task, pair: tuple[Window, Window], alone: Sequence[Checksum], together: Checksum
) -> Separability | None:
    """What a probe shows. Nothing, when one of the windows was empty: no rows prove no rule."""
    if any(each.rows == 0 for each in alone):
        return None
    summed = added(alone)
    labels = f"{pair[0].label} and {pair[1].label}"
    if summed == together:
        evidence = f"separable: {labels} gave the same {together.rows:,} rows alone and together"
    else:
        evidence = (
            f"not separable: {labels} gave {summed.rows:,} rows alone and "
            f"{together.rows:,} together, or other contents"
        )
    return Separability(
        task=task.name,
        fingerprint=task.fingerprint,
        separable=summed == together,
        evidence=evidence,
    )


def added(sums: Sequence[Checksum]) -> Checksum:
    """The checksum of all rows of several results, which share none."""
    return Checksum(
        sum(each.rows for each in sums),
        sum(each.first for each in sums) % WRAP,
        sum(each.second for each in sums) % WRAP,
    )
