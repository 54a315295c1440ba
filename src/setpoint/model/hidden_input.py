"""Hidden inputs: clocks, chance and row order that a result must not depend on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Allow:
    """A hidden input that a task may use, with the reason in writing."""

    function: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class HiddenInputFound:
    """A clock, randomness or order dependence found in a task's plan."""

    function: str
    """As written in SQL: `current_timestamp`, `rand`, `uuid`, or `python` for Python's own."""
    place: str
    """The column it fills, or the filter, join or grouping it sits in."""
    fix: str
    refused: bool = True
    """False for what is only worth a warning."""

    def __str__(self) -> str:
        return f"{self.function} in {self.place}"
