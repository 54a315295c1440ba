"""What a test of a task asserts, in one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.verifying.difference import compare_table
from setpoint.verifying.reports.text import text_report
from setpoint.verifying.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setpoint.testing.trial_project import TrialProject
    from setpoint.verifying.difference import Difference
    from setpoint.verifying.verdict import Verdict

QUICK = ("plan", "two", "crash", "clock", "partitioning", "environment", "effects")
BACKFILL = ("two", "neighbours", "order", "month")


@dataclass(frozen=True, kw_only=True)
class Twice:
    """What two runs of a task left in its table."""

    first: Rows
    second: Rows
    difference: Difference | None

    @property
    def same(self) -> bool:
        """Whether both runs left the same rows."""
        return self.difference is None


def run_twice(project: TrialProject, task: str, *, ds: str | None = None) -> Twice:
    """Run a task two times, and compare what is in its table after each."""
    states = []
    for _ in range(2):
        project.run(task, ds)
        found = project.rows(project.loaded.graph.task(task).target.sql)
        columns = list(found[0]) if found else []
        states.append(Rows.of(columns, [tuple(row.values()) for row in found]))
    first, second = states
    return Twice(first=first, second=second, difference=compare_table(task, first, second))


def assert_idempotent(
    project: TrialProject, task: str, *, ds: str | None = None, checks: Sequence[str] = QUICK
) -> Verdict:
    """Fail with the counter-example, its cause and the fix unless the task is idempotent."""
    return _asserted(project.verify(task, ds=ds, checks=checks))


def assert_backfillable(
    project: TrialProject, task: str, *, ds: str | None = None, checks: Sequence[str] = BACKFILL
) -> Verdict:
    """Fail unless old dates can be run again, in any order, without touching others."""
    return _asserted(project.verify(task, ds=ds, checks=checks))


def _asserted(verdict: Verdict) -> Verdict:
    if not verdict.idempotent:
        raise AssertionError("\n".join(["", *text_report([verdict])]))
    return verdict
