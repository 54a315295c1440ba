"""The rule that chooses a task's write pattern, with its reason in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.model.write import Merge, Overwrite, Replace, Write, window_column

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A write pattern and why it is the one."""

    write: Write
    reason: str


@dataclass(frozen=True, kw_only=True)
class Undecided:
    """No pattern fits what the task says; what to add."""

    reason: str
    fix: str


def choose(
    *,
    stated: Write | None,
    windowed: bool,
    partition_by: str | None,
    key: Sequence[str],
    version: str | None = None,
    supported: Collection[str] = ("overwrite", "replace"),
) -> Choice | Undecided:
    """Choose how a task writes.

    Stated → that one. Time-partitioned and one window a run → overwrite. One row an entity with a
    version → merge. No window at all → replace.
    """
    choice = _choose(stated, windowed, partition_by, key, version)
    if not isinstance(choice, Choice):
        return choice
    if isinstance(choice.write, Overwrite) and "overwrite" not in supported:
        return _slice_of_database(choice, stated=stated is not None)
    if isinstance(choice.write, Replace) and choice.write.by and "overwrite" in supported:
        return Undecided(
            reason=f"replace(by={choice.write.by!r}) is for databases; a lake swaps partitions",
            fix=f"use overwrite(by={choice.write.by!r})",
        )
    if choice.write.name not in supported:
        return Undecided(
            reason=f"the target cannot do {choice.write.name}",
            fix="use one of: " + ", ".join(f"{name}(…)" for name in sorted(supported)),
        )
    return choice


def _slice_of_database(choice: Choice, *, stated: bool) -> Choice | Undecided:
    """A database has no partitions to swap: a window is a slice, deleted and inserted as one."""
    by = window_column(choice.write)
    if stated:
        return Undecided(
            reason=f"overwrite(by={by!r}) swaps partitions, which a database does not have",
            fix=f"use replace(by={by!r}): delete and insert in one transaction",
        )
    return Choice(
        write=Replace(by=by),
        reason=f"a slice of a database table by {by}: deleted and inserted in one transaction",
    )


def _choose(
    stated: Write | None,
    windowed: bool,  # noqa: FBT001
    partition_by: str | None,
    key: Sequence[str],
    version: str | None,
) -> Choice | Undecided:
    by = window_column(stated) if stated else None
    if stated is not None and by is not None and not windowed:
        return Undecided(
            reason=f"{stated.name}(by={by!r}) needs a window, and the task has no grain",
            fix='add grain="day" (or another), or use replace()',
        )
    if stated is not None:
        return Choice(write=stated, reason="stated by the task")
    if partition_by and windowed:
        return Choice(
            write=Overwrite(by=partition_by),
            reason=f"time-partitioned by {partition_by}, and a run owns whole windows",
        )
    if key and version:
        return Choice(
            write=Merge(on=tuple(key), version=version),
            reason=f"one row for each {', '.join(key)}; the newest {version} wins",
        )
    if not windowed:
        return Choice(write=Replace(), reason="no grain: the task sets its whole table")
    return Undecided(
        reason="the task has a grain but does not say which rows a window owns",
        fix='add write=overwrite(by="…") with the date or timestamp column of the result',
    )
