"""The rule that chooses a task's write pattern, with its reason in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.model.target import DATABASES, PATTERNS
from setpoint.model.write import Merge, Overwrite, Replace, Write

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
    kind: str = "iceberg",
    supported: Collection[str] | None = None,
) -> Choice | Undecided:
    """Choose how a task writes.

    Stated → that one, if it suits the task and its destination. Time-partitioned and one window a
    run → overwrite; in a database, which has no partitions to swap, replace of that slice. One row
    an entity with a version → merge. No window at all → replace of the whole table.

    Args:
        stated: The pattern that the task names, if it does.
        windowed: Whether the task has a grain.
        partition_by: The time column of the result.
        key: The columns that no two rows share.
        version: The column that says which of two rows of a key is newer.
        kind: The kind of destination: iceberg, delta, parquet, postgres.
        supported: The patterns that the destination can do; by its kind when left out.
    """
    can = PATTERNS.get(kind, ()) if supported is None else supported
    if stated is None:
        choice = _by_rule(windowed, partition_by, key, version, kind)
    else:
        choice = _stated(stated, windowed, key, kind)
    if isinstance(choice, Choice) and choice.write.name not in can:
        return _unsuited(choice.write, windowed, partition_by, kind, can)
    return choice


def _by_rule(
    windowed: bool,  # noqa: FBT001
    partition_by: str | None,
    key: Sequence[str],
    version: str | None,
    kind: str,
) -> Choice | Undecided:
    if partition_by and windowed and kind in DATABASES:
        return Choice(
            write=Replace(by=partition_by),
            reason=f"a slice of time by {partition_by} in a database: "
            "delete and insert in one transaction",
        )
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
    if version:
        return Undecided(
            reason=f"the task has a version ({version}) but no key to merge by",
            fix='add unique_key=["…"], the columns of which there is one row each',
        )
    slice_of = 'write=replace(by="…")' if kind in DATABASES else 'write=overwrite(by="…")'
    return Undecided(
        reason="the task has a grain but does not say which rows a window owns",
        fix=f"add {slice_of} with the date or timestamp column of the result, or "
        'write=merge(on="…", version="…") if it has one row an entity',
    )


def _stated(
    stated: Write,
    windowed: bool,  # noqa: FBT001
    key: Sequence[str],
    kind: str,
) -> Choice | Undecided:
    if isinstance(stated, Merge):
        return _stated_merge(stated, windowed, key)
    if stated.by is not None and not windowed:
        return Undecided(
            reason=f"{stated.name}(by={stated.by!r}) needs a window, and the task has no grain",
            fix='add grain="day" (or another), or use replace()',
        )
    if isinstance(stated, Replace) and stated.by is not None and kind not in DATABASES:
        return Undecided(
            reason=f"replace(by={stated.by!r}) is delete and insert in one transaction of a "
            f"database; {_destination(kind)} swaps whole partitions",
            fix=f'use overwrite(by="{stated.by}")',
        )
    return Choice(write=stated, reason="stated by the task")


def _stated_merge(
    stated: Merge,
    windowed: bool,  # noqa: FBT001
    key: Sequence[str],
) -> Choice | Undecided:
    if key and {name.lower() for name in key} != {name.lower() for name in stated.on}:
        return Undecided(
            reason=f"unique_key ({', '.join(key)}) is not what the task merges on "
            f"({', '.join(stated.on)}), and a merge keeps one row for each of those",
            fix="leave unique_key out, or merge on it",
        )
    if stated.version is None and windowed:
        return Undecided(
            reason="a merge of windows needs a version: without one the last window to arrive "
            "wins, and running an old date again would undo newer ones",
            fix='merge(on=…, version="updated_at"), a column that grows with every change',
        )
    if stated.version is None and stated.delete_when is not None:
        return Undecided(
            reason="a merge that deletes needs a version: without one an old row would come back",
            fix='merge(on=…, version="updated_at", delete_when=…)',
        )
    return Choice(write=stated, reason="stated by the task")


def _unsuited(
    write: Write,
    windowed: bool,  # noqa: FBT001
    partition_by: str | None,
    kind: str,
    can: Collection[str],
) -> Undecided:
    """Refuse a pattern that the destination cannot do, and name the one that suits."""
    by = write.by if isinstance(write, (Overwrite, Replace)) else partition_by
    if isinstance(write, Overwrite) and kind in DATABASES and "replace" in can:
        fix = f'use replace(by="{write.by}"): delete and insert in one transaction'
    elif isinstance(write, Merge) and windowed and "overwrite" in can:
        fix = (
            f'use overwrite(by="{by or "…"}") if each row belongs to one window, or keep the table '
            "in a catalog of type iceberg or delta, or in postgres"
        )
    elif isinstance(write, Merge) and "replace" in can:
        fix = "use replace() to set the whole table, or keep it where rows can be merged"
    else:
        fix = "use one of: " + ", ".join(f"{name}(…)" for name in sorted(can))
    return Undecided(reason=f"{_destination(kind)} cannot do {write.name}", fix=fix)


def _destination(kind: str) -> str:
    names = {"iceberg": "Iceberg", "delta": "Delta", "parquet": "Hive-style Parquet"}
    return names.get(kind, kind.capitalize())
