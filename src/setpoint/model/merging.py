"""A merge as SQL text: which rows of a batch count, and when one replaces a row of the table.

The state of a key is its newest version. Taking the newest is commutative, associative and
idempotent, so windows may arrive in any order and any number of times and give one result. Two
things would break that, and are therefore refused: one version with two contents (which is newer?),
and a delete that leaves no trace (an older window would bring the row back).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.model.table import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setpoint.model.write import Merge

DELETED = "_setpoint_deleted"
LIVE = f"{DELETED} IS NOT TRUE"
FIRST, NEWEST, BEFORE = "__setpoint_first", "__setpoint_newest", "__setpoint_before"


@dataclass(frozen=True, kw_only=True)
class Comparable:
    """A column, and how two of its values are compared: maps have no equality of their own."""

    name: str
    pattern: str = "{}"

    def sql(self, table: str = "") -> str:
        """The expression to compare, of the column of a table."""
        return self.pattern.format(f"{table}.{quote(self.name)}" if table else quote(self.name))


def marked_columns(merge: Merge, columns: Sequence[str]) -> list[str]:
    """The select list that turns deletes into tombstones.

    A tombstone keeps the key and the version alone: what was deleted is gone from the table, and
    the sums of a reader who does not know of tombstones stay right.
    """
    if merge.delete_when is None:
        return [quote(name) for name in columns]
    kept = {name.lower() for name in (*merge.on, merge.version or "")}
    deleted = f"coalesce(({merge.delete_when}), false)"
    listed = []
    for name in columns:
        column = quote(name)
        if name.lower() not in kept:
            column = f"CASE WHEN {deleted} THEN NULL ELSE {column} END AS {column}"
        listed.append(column)
    return [*listed, f"{deleted} AS {DELETED}"]


def ranked_columns(merge: Merge, content: Sequence[Comparable]) -> list[str]:
    """The select list that ranks the rows of each key, the newest first."""
    key = ", ".join(map(quote, merge.on))
    order = f"{quote(merge.version)} DESC" if merge.version else key
    over = f"OVER (PARTITION BY {key} ORDER BY {order})"
    newest = quote(merge.version) if merge.version else "true"
    return [
        "*",
        f"row_number() {over} AS {FIRST}",
        f"first_value({newest}) {over} AS {NEWEST}",
        f"lag({content_sql(content)}) {over} AS {BEFORE}",
    ]


def reduced_filter(merge: Merge, content: Sequence[Comparable], stop: str) -> str:
    """The filter that keeps one row a key, and stops at two contents of the newest version.

    Each row is compared with the one before it: if rows of one version are not all alike, two that
    stand side by side differ.
    """
    tied = f"{quote(merge.version)} <=> {NEWEST} AND " if merge.version else ""
    return (
        f"CASE WHEN {FIRST} = 1 THEN true "
        f"WHEN {tied}NOT ({content_sql(content)} <=> {BEFORE}) THEN {stop} ELSE false END"
    )


def content_sql(content: Sequence[Comparable], table: str = "") -> str:
    """All that a row says, as one value to compare."""
    return f"struct({', '.join(column.sql(table) for column in content)})"


def newer_sql(
    merge: Merge, content: Sequence[Comparable], stop: str, *, table: str = "t", batch: str = "s"
) -> str:
    """The condition under which a row of the batch replaces the row of the table."""
    same = same_sql(content, table=table, batch=batch)
    if merge.version is None:
        return f"NOT ({same})"
    new, old = (f"{name}.{quote(merge.version)}" for name in (batch, table))
    return (
        f"CASE WHEN {old} IS NULL OR {new} > {old} THEN true "
        f"WHEN {new} = {old} AND NOT ({same}) THEN {stop} ELSE false END"
    )


def same_sql(content: Sequence[Comparable], *, table: str = "t", batch: str = "s") -> str:
    """The condition that two rows say the same."""
    return " AND ".join(f"{column.sql(batch)} <=> {column.sql(table)}" for column in content)


def matching_sql(merge: Merge, *, table: str = "t", batch: str = "s") -> str:
    """The condition that a row of the batch and a row of the table have one key."""
    return " AND ".join(f"{table}.{quote(name)} = {batch}.{quote(name)}" for name in merge.on)


def live_sql(table: str) -> str:
    """A table without its tombstones, in a FROM clause."""
    return f"(SELECT * EXCEPT ({DELETED}) FROM {table} WHERE {LIVE})"  # noqa: S608
