"""Comparing what a run means to do with what the target's own history says was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.engine.commit_mark import adoptable, late_commits
from setpoint.engine.spark.translation import SPARK_ERRORS
from setpoint.errors import CommitConflict
from setpoint.model.write import Merge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from setpoint.engine.commit_mark import LateCommit
    from setpoint.engine.protocol import Outcome, Token
    from setpoint.engine.spark.target import Target
    from setpoint.model.table import TableName
    from setpoint.model.task import Task


def adopted(
    target: Target,
    task: Task,
    run_id: str,
    *,
    as_of: Mapping[str, str] | None,
    opened: Callable[[TableName], Target],
) -> Outcome | None:
    """The outcome of the run's commit, if a run now would do the same again.

    Not of a commit that another came over late, nor of one that strangers wrote after, nor of one
    that read other snapshots than a run would read now: those are for a rerun.
    """
    found = target.commit(run_id) if target.exists() else None
    if found is None or target.strangers_since(found.snapshot):
        return None
    marks = [] if _versioned(task) else target.marks()
    own = next((mark for mark in marks if mark.snapshot == found.snapshot), None)
    if own is not None and not adoptable(own, marks):
        return None
    if as_of:
        return found if dict(found.inputs) == dict(as_of) else None
    for source in task.sources:
        read = found.inputs.get(str(source.table))
        state = opened(source.table).state() if read is not None else None
        if state is not None and state.snapshot != read:
            return None
    return found


def took_place(target: Target, token: Token) -> bool:
    """Whether the commit of a token is in the table, when its answer was lost."""
    try:
        return any((m.run_id, m.fence) == (token.run_id, token.fence) for m in target.marks())
    except SPARK_ERRORS:
        return False  # out of reach now; the next attempt looks again


def standing_late(target: Target, task: Task) -> list[LateCommit]:
    """The commits to the task's table that came late and still stand."""
    return [] if _versioned(task) else late_commits(target.marks())


def repaired(target: Target, task: Task, token: Token) -> tuple[str, ...]:
    """What to say of late commits that this one replaced; an error if this one came late."""
    marks = [] if _versioned(task) else target.marks()
    standing = late_commits(marks)
    for late in standing:
        if (late.commit.run_id, late.commit.fence) == (token.run_id, token.fence):
            raise CommitConflict(
                f"this attempt was taken over: {late.words}; it must be set again",
                next_step=f"setpoint run --select {task.name} sets it again",
            )
    still = {late.commit.place for late in standing}
    before = late_commits([mark for mark in marks if mark.fence != token.fence])
    return tuple(
        f"{late.words}; this run has set it again"
        for late in before
        if late.commit.place not in still
    )


def _versioned(task: Task) -> bool:
    """Whether versions, not the order of commits, decide what a table holds: nothing is late."""
    return isinstance(task.write, Merge) and task.write.version is not None
