"""Names of tables, quoted right or refused."""

from __future__ import annotations

import re
from dataclasses import dataclass

from setpoint.errors import UsageError

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")
MAX_PART = 255
# Bare, Spark may read these as a constant, a clock or a user before it looks for a column.
VALUES = frozenset(
    {"null", "true", "false", "current_date", "current_time", "current_timestamp"}
    | {"localtime", "localtimestamp", "current_user", "session_user", "user"}
)


def quote(name: str) -> str:
    """The name as a SQL identifier that can never be read as anything else."""
    if PLAIN.match(name) and name.lower() not in VALUES:
        return name
    return "`" + name.replace("`", "``") + "`"


@dataclass(frozen=True, order=True)
class TableName:
    """A table by catalog (or connection), namespace and name: `lake.shop.orders`."""

    parts: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> TableName:
        """Read a dotted name; a part in backticks may hold any character."""
        if not isinstance(text, str) or not text.strip():
            raise UsageError(f"not a table name: {text!r}", next_step="use catalog.namespace.table")
        parts: list[str] = []
        position = 0
        while True:
            match = PART.match(text, position)
            if match is None:
                raise _not_a_name(text)
            part = match[1].replace("``", "`") if match[1] else match[2]
            # A table's folder is called like it: a name must not lead out of the warehouse.
            upward = {".", ".."} & set(re.split(r"[/\\]", part))
            if part != part.strip() or not part.isprintable() or len(part) > MAX_PART or upward:
                raise _not_a_name(text)
            parts.append(part)
            position = match.end()
            if position == len(text):
                break
            if text[position] != ".":
                raise _not_a_name(text)
            position += 1
        if len(parts) < 3:  # noqa: PLR2004 — catalog, namespace, table
            raise UsageError(
                f"{text!r} names no catalog and namespace",
                next_step="write it as catalog.namespace.table, e.g. lake.shop.orders",
            )
        return cls(tuple(parts))

    @property
    def catalog(self) -> str:
        """The first name: a catalog or connection of setpoint.toml."""
        return self.parts[0]

    @property
    def namespace(self) -> TableName:
        """The table's namespace, with its catalog."""
        return TableName(self.parts[:-1])

    @property
    def sql(self) -> str:
        """The whole name, quoted for Spark SQL."""
        return ".".join(quote(part) for part in self.parts)

    def __str__(self) -> str:
        return self.sql


def _not_a_name(text: str) -> UsageError:
    return UsageError(
        f"not a table name: {text!r}",
        next_step="use catalog.namespace.table; put a part with odd characters in `backticks`",
    )
