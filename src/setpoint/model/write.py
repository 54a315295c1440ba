"""Write patterns: how a task makes its scope match its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class Overwrite:
    """Replace the rows whose `by` column lies in the window."""

    name: ClassVar[str] = "overwrite"
    by: str
    partition: str | None = None
    """The length of one partition (`day`, `hour` …) where it differs from the task's grain."""


@dataclass(frozen=True, kw_only=True)
class Merge:
    """Update and insert by key; a newer version wins, whatever order windows arrive in."""

    name: ClassVar[str] = "merge"
    on: tuple[str, ...]
    version: str | None = None
    delete_when: str | None = None


@dataclass(frozen=True, kw_only=True)
class Replace:
    """Replace the whole table; with `by`, the slice of a database table that the window owns."""

    name: ClassVar[str] = "replace"
    by: str | None = None


Write = Overwrite | Merge | Replace


def overwrite(by: str, *, partition: str | None = None) -> Overwrite:
    """Replace the rows of the window: those whose `by` column lies in it."""
    return Overwrite(by=by, partition=partition)


def merge(
    on: str | list[str] | tuple[str, ...],
    *,
    version: str | None = None,
    delete_when: str | None = None,
) -> Merge:
    """Update and insert by the key `on`; the row with the newest `version` wins."""
    return Merge(
        on=(on,) if isinstance(on, str) else tuple(on), version=version, delete_when=delete_when
    )


def replace(by: str | None = None) -> Replace:
    """Replace the whole table; with `by`, the rows of a database whose `by` lies in the window."""
    return Replace(by=by)


def window_column(write: Write) -> str | None:
    """The column by which a window's rows are told apart; None when there is none."""
    return None if isinstance(write, Merge) else write.by
