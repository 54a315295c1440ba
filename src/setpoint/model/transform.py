"""Transforms: the part of a task that turns sources into a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setpoint.model.table import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from setpoint.model.window import Window


@dataclass(frozen=True, kw_only=True)
class PythonTransform:
    """A function from sources to a DataFrame."""

    function: Callable[..., Any]
    parameters: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SqlTransform:
    """A SELECT that reads its sources by name."""

    text: str
    """As its author wrote it."""
    statement: str
    """As it is carried out: `surrogate_key(…)` written out."""
    first_line: int
    """The line of the file on which the SELECT's text begins."""


Transform = PythonTransform | SqlTransform


SQL_PARAMETERS = (
    "window_start",
    "window_end",
    "data_interval_start",
    "data_interval_end",
    "logical_date",
    "ds",
    "next_ds",
)


def sql_parameters(window: Window | None) -> dict[str, datetime | str]:
    """The named parameters of a SQL task: the window under the names that people know."""
    if window is None:
        return {}
    values = (window.start, window.end) * 2 + (window.start, window.ds, window.next_ds)
    return dict(zip(SQL_PARAMETERS, values, strict=True))


def compose_sql(select: str, sources: Mapping[str, str]) -> str:
    """The statement that is carried out: each source as a bounded subquery under its name."""
    if not sources:
        return select
    views = ",\n".join(f"{quote(name)} AS (\n  {query}\n)" for name, query in sources.items())
    return f"WITH {views}\nSELECT * FROM (\n{select}\n)"


def source_sql(table: str, bounds: str | None) -> str:
    """The subquery that reads a source within its bounds."""
    where = f"\n  WHERE {bounds}" if bounds else ""
    return f"SELECT * FROM {table}{where}"  # noqa: S608 — the caller quotes the name
