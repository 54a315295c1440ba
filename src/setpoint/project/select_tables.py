"""The tables that a SELECT names past its sources: nothing bounds what it reads there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setpoint.model.source import Source


def direct_tables(select: str) -> tuple[str, ...]:
    """The tables with a dot in their names, each once; sources and WITH have plain names.

    What cannot be parsed here names none: Spark, whose language it is, will judge it.
    """
    try:
        tree = parse_one(select, dialect="spark")
    except (SqlglotError, RecursionError):
        return ()
    found = (
        ".".join(part.name for part in table.parts)
        for table in tree.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier) and len(table.parts) > 1
    )
    return tuple(dict.fromkeys(found))


def declare_instead(table: str, sources: Mapping[str, Source]) -> str:
    """How to read the table as a source."""
    known = next((name for name, s in sources.items() if s.table.lower() == table.lower()), None)
    if known is not None:
        return f"it is the source {known!r}: read FROM {known}"
    name = table.rpartition(".")[2]
    return (
        f"sources: {{{name}: {{table: {table}, event_time: …}}}}, or static: true for a lookup, "
        f"and read FROM {name}"
    )
