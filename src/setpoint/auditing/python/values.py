"""What is known of a Python value without running anything: its text, and what flowed into it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from setpoint.auditing.facts import Spot


@dataclass(frozen=True)
class Mark:
    """One hidden input that flowed into a value."""

    kind: str
    """clock, random, uuid, env, logical, sequence, row-number."""
    spot: Spot
    text: str
    host: str = "python"
    """python, or spark when the value is drawn by the engine."""
    name: str = ""


NO_MARKS: frozenset[Mark] = frozenset()


@dataclass(frozen=True)
class Pending:
    """A hidden input that shaped some data; it matters once the data is written."""

    mark: Mark
    role: str
    column: str = ""


NO_PENDING: frozenset[Pending] = frozenset()


# Not frozen, though nobody changes one: hundreds are made for a file, and a frozen one costs twice.
@dataclass(slots=True, unsafe_hash=True)
class Value:
    """A value as far as the code tells: known text, kind, parts, and the marks on it."""

    text: str | None = None
    marks: frozenset[Mark] = NO_MARKS
    kind: str = ""
    """frame, writer, connection, cursor, engine, task, dag, number …"""
    name: str = ""
    """The dotted name it stands for: an imported thing, a table, a task id."""
    items: tuple[Value, ...] | None = None
    fields: Mapping[str, Value] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    """Texts that it may be, when a condition decides."""
    line: int = 0
    """The first line of the literal that the text comes from, when it is one literal."""
    flags: frozenset[str] = frozenset()
    """reduced, anti, keyed, autocommit …"""
    pending: frozenset[Pending] = NO_PENDING
    """What shaped the data that this value is."""

    def marked(self, marks: Iterable[Mark]) -> Value:
        """The same value with more marks."""
        more = frozenset(marks)
        return self if more <= self.marks else replace(self, marks=self.marks | more)

    def flagged(self, *flags: str) -> Value:
        """The same value with more flags."""
        return replace(self, flags=self.flags | set(flags))

    def has(self, kind: str) -> bool:
        """Whether a mark of this kind is on it."""
        return any(mark.kind == kind for mark in self.marks)

    def may_be(self, text: str) -> bool:
        """Whether it is, or under some condition is, this text (case does not matter)."""
        wanted = text.lower()
        if self.text is not None:
            return self.text.lower() == wanted
        return any(choice.lower() == wanted for choice in self.choices)

    def shaped(self, marks: Iterable[Mark], role: str, column: str = "") -> Value:
        """The same data after hidden inputs shaped it."""
        more = frozenset(Pending(mark, role, column) for mark in marks)
        return self if not more else replace(self, pending=self.pending | more)

    def data(self, *flags: str, lost: frozenset[str] = frozenset()) -> Value:
        """A frame made from this one: what shaped it goes on, its marks do not."""
        return Value(kind="frame", flags=(self.flags | set(flags)) - lost, pending=self.pending)

    def all_pending(self) -> frozenset[Pending]:
        """What shaped it and its parts."""
        found = self.pending
        if not self.items and not self.fields:
            return found
        for one in (*(self.items or ()), *self.fields.values()):
            found |= one.all_pending()
        return found

    def all_marks(self) -> frozenset[Mark]:
        """The marks on it and on its parts."""
        marks = self.marks
        if not self.items and not self.fields:
            return marks
        for one in (*(self.items or ()), *self.fields.values()):
            marks |= one.all_marks()
        return marks


UNKNOWN = Value()


def joined(values: Iterable[Value]) -> frozenset[Mark]:
    """The marks of several values together."""
    marks: frozenset[Mark] = NO_MARKS
    for value in values:
        marks |= value.all_marks()
    return marks


def shaping(values: Iterable[Value]) -> frozenset[Pending]:
    """What shaped several values together."""
    found = NO_PENDING
    for value in values:
        found |= value.all_pending()
    return found


def either(one: Value, other: Value) -> Value:
    """What is known when a condition decides between two values."""
    if one == other:
        return one
    texts = [
        text
        for value in (one, other)
        for text in ((value.text,) if value.text is not None else value.choices)
    ]
    return Value(
        marks=one.marks | other.marks,
        kind=one.kind or other.kind,
        name=one.name or other.name,
        items=one.items or other.items,
        fields={**other.fields, **one.fields},
        choices=tuple(dict.fromkeys(texts)),
        # Rows that the target holds are left out where it holds any, which one arm asks.
        flags=one.flags & other.flags | (one.flags | other.flags) & {"anti"},
        pending=one.pending | other.pending,
    )
