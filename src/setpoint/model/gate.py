"""Gates: checks inside the write, so that failing rows never become visible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class ScopeGate:
    """Every row lies in the window that the run owns."""

    name: ClassVar[str] = "scope"
    column: str

    def __str__(self) -> str:
        return f"scope: {self.column} of every row lies in the window"


@dataclass(frozen=True, kw_only=True)
class NotNullGate:
    """No key column is null."""

    name: ClassVar[str] = "not_null"
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"not_null: {', '.join(self.columns)}"


@dataclass(frozen=True, kw_only=True)
class UniqueGate:
    """No two rows share a key."""

    name: ClassVar[str] = "unique"
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"unique: one row for each {', '.join(self.columns)}"


@dataclass(frozen=True, kw_only=True)
class TieGate:
    """No version of a key has two contents."""

    name: ClassVar[str] = "tie"
    columns: tuple[str, ...]
    version: str | None = None

    def __str__(self) -> str:
        one = f"{', '.join(self.columns)}{f' and {self.version}' if self.version else ''}"
        return f"tie: rows of one {one} say the same, in the batch and in the table"


@dataclass(frozen=True, kw_only=True)
class CheckGate:
    """A condition of the user's that every row meets."""

    name: str
    condition: str
    unless: str | None = None
    """Rows that the condition does not ask: those that a merge deletes."""

    def __str__(self) -> str:
        return f"{self.name}: {self.condition}"


@dataclass(frozen=True, kw_only=True)
class RowCountGate:
    """The result has a number of rows within limits."""

    name: ClassVar[str] = "rows"
    least: int | None = None
    most: int | None = None

    def allows(self, rows: int) -> bool:
        """Whether this many rows are within the limits."""
        return (self.least is None or rows >= self.least) and (
            self.most is None or rows <= self.most
        )

    @property
    def limits(self) -> str:
        """The limits in words."""
        if self.least is not None and self.most is not None:
            return f"{self.least:,} to {self.most:,} rows"
        if self.least is not None:
            return f"at least {self.least:,} rows"
        return f"at most {self.most:,} rows"

    def __str__(self) -> str:
        return f"rows: {self.limits}"


Gate = ScopeGate | NotNullGate | UniqueGate | TieGate | CheckGate | RowCountGate
