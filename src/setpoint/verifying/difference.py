"""The smallest counter-example: what differs between two states that should be one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setpoint.verifying.rows import Row, Rows

Kind = Literal["doubled", "changed", "added", "lost", "mixed"]
SAMPLES = 5
MOST_COLUMNS = 12
"""Sets of more columns than this are not searched for a key."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One row as it was before and as it is after; None where there is none."""

    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What differs between two states of a table."""

    table: str
    kind: Kind
    before: int
    """Rows in the first state."""
    after: int
    columns: tuple[str, ...] = ()
    """The columns that differ; for doubled rows, those in which the copies differ."""
    key: tuple[str, ...] = ()
    """The columns by which rows of both states were matched."""
    rows: int = 0
    """How many rows differ."""
    samples: tuple[Sample, ...] = ()

    @property
    def words(self) -> str:
        """What differs, in one line."""
        counts = f"{self.before:,} rows became {self.after:,}"
        listed = ", ".join(self.columns)
        if self.kind == "doubled":
            but = f", each with another {listed}" if listed else ""
            return f"{counts}: rows were added again{but}"
        if self.kind == "changed":
            return f"{self.rows:,} of {self.after:,} rows differ in {listed}"
        if self.kind == "added":
            return f"{counts}: {self.rows:,} rows were added"
        if self.kind == "lost":
            return f"{counts}: {self.rows:,} rows are gone"
        return f"{counts}: {self.rows:,} rows differ"


def compare(
    first: Mapping[str, Rows], second: Mapping[str, Rows], key: Sequence[str] = ()
) -> Difference | None:
    """The difference between two states of some tables, of the first table that has one."""
    for table in sorted({*first, *second}):
        found = compare_table(table, first.get(table), second.get(table), key)
        if found is not None:
            return found
    return None


def compare_table(
    table: str, first: Rows | None, second: Rows | None, key: Sequence[str] = ()
) -> Difference | None:
    """The difference between two states of one table; None when they are equal."""
    if first is None or second is None or not first.columns or not second.columns:
        return _only_one(table, first, second)
    if set(first.columns) != set(second.columns):
        return _other_columns(table, first, second)
    order = [second.columns.index(name) for name in first.columns]
    before = Counter(dict(first.counted))
    after: Counter[Row] = Counter()
    for row, times in second.counted.items():
        after[tuple(row[place] for place in order)] += times
    if before == after:
        return None
    finder = _Finder(table, first, second, before, after)
    return finder.difference([name for name in key if name in first.columns])


class _Finder:
    """Looks at two multisets of rows from every side."""

    def __init__(
        self, table: str, first: Rows, second: Rows, before: Counter[Row], after: Counter[Row]
    ) -> None:
        self.table, self.first, self.second = table, first, second
        self.before, self.after = before, after
        self.gone, self.come = before - after, after - before
        self.columns = first.columns

    def difference(self, key: Sequence[str]) -> Difference:
        if not self.gone:
            return self._grown()
        volatile = self._volatile()
        stable = [name for name in self.columns if name not in volatile]
        if (
            volatile
            and stable
            and self._project(self.gone, stable) == self._project(self.come, stable)
        ):
            return self._made("changed", columns=volatile, key=key or stable)
        if key and (columns := self._differing(key)):
            return self._made("changed", columns=columns, key=key)
        guessed = self._guessed_key()
        if guessed and (columns := self._differing(guessed)):
            return self._made("changed", columns=columns, key=guessed)
        if not self.come:
            return self._made("lost")
        return self._made("mixed", key=key)

    def _grown(self) -> Difference:
        """Rows came and none went: are they the old ones again?"""
        if not self.first.partial and self.before and all(row in self.before for row in self.come):
            return self._made("doubled")
        volatile: Sequence[str] = () if self.first.partial else self._twins()
        if volatile:
            return self._made("doubled", columns=volatile)
        return self._made("added")

    def _twins(self) -> tuple[str, ...]:
        """The fewest columns without which every new row is one that was there before."""
        for size in (1, 2, 3):
            for left_out in combinations(self.columns, size):
                stable = [name for name in self.columns if name not in left_out]
                if not stable:
                    continue
                old = self._project(self.before, stable)
                if all(row in old for row in self._project(self.come, stable)):
                    return left_out
            if len(self.columns) > MOST_COLUMNS:
                break
        return ()

    def _volatile(self) -> tuple[str, ...]:
        """The columns whose values, taken alone, are others than before."""
        return tuple(
            name
            for name in self.columns
            if self._project(self.gone, [name]) != self._project(self.come, [name])
        )

    def _guessed_key(self) -> tuple[str, ...]:
        """The first one or two columns that tell the rows apart, on both sides alike."""
        for size in (1, 2):
            for names in combinations(self.columns, size):
                left, right = self._project(self.gone, names), self._project(self.come, names)
                if left == right and max(left.values(), default=0) == 1:
                    return names
        return ()

    def _differing(self, key: Sequence[str]) -> tuple[str, ...]:
        """The columns that differ between rows of one key; empty when keys do not match."""
        places = [self.columns.index(name) for name in key]
        left = {tuple(row[n] for n in places): row for row in self.gone}
        right = {tuple(row[n] for n in places): row for row in self.come}
        if set(left) != set(right):
            return ()
        return tuple(
            name
            for n, name in enumerate(self.columns)
            if any(left[each][n] != right[each][n] for each in left)
        )

    def _project(self, rows: Counter[Row], names: Sequence[str]) -> Counter[Row]:
        places = [self.columns.index(name) for name in names]
        found: Counter[Row] = Counter()
        for row, times in rows.items():
            found[tuple(row[place] for place in places)] += times
        return found

    def _made(self, kind: Kind, columns: Sequence[str] = (), key: Sequence[str] = ()) -> Difference:
        return Difference(
            table=self.table,
            kind=kind,
            before=self.first.count,
            after=self.second.count,
            columns=tuple(columns),
            key=tuple(key),
            rows=max(sum(self.gone.values()), sum(self.come.values())),
            samples=self._samples(key),
        )

    def _samples(self, key: Sequence[str]) -> tuple[Sample, ...]:
        gone, come = sorted(self.gone, key=repr), sorted(self.come, key=repr)
        if key and gone and come:
            places = [self.columns.index(name) for name in key]
            others = {tuple(row[n] for n in places): row for row in come}
            pairs = [(row, others.get(tuple(row[n] for n in places))) for row in gone]
            matched = [(one, other) for one, other in pairs if other is not None]
            if matched:
                return tuple(
                    Sample(before=self._named(one), after=self._named(other))
                    for one, other in matched[:SAMPLES]
                )
        lost = [Sample(before=self._named(row), after=None) for row in gone[:SAMPLES]]
        found = [Sample(before=None, after=self._named(row)) for row in come[:SAMPLES]]
        return tuple([*lost, *found][:SAMPLES])

    def _named(self, row: Row) -> dict[str, Any]:
        return dict(zip(self.columns, row, strict=True))


def _only_one(table: str, first: Rows | None, second: Rows | None) -> Difference | None:
    """One of the two states has no such table, or one without columns."""
    before, after = (first.count if first else 0), (second.count if second else 0)
    if before == after:
        return None
    rows = second if second and second.counted else first
    shown = [rows.named(row) for row in sorted(rows.counted, key=repr)[:SAMPLES]] if rows else []
    lost = before > after
    return Difference(
        table=table,
        kind="lost" if lost else "added",
        before=before,
        after=after,
        rows=abs(after - before),
        samples=tuple(
            Sample(before=each if lost else None, after=None if lost else each) for each in shown
        ),
    )


def _other_columns(table: str, first: Rows, second: Rows) -> Difference:
    changed = sorted(set(first.columns) ^ set(second.columns))
    return Difference(
        table=table,
        kind="mixed",
        before=first.count,
        after=second.count,
        columns=tuple(changed),
        rows=second.count,
    )
