"""Folders of tables that live under a path, and of their Hive-style partitions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from setpoint.model.table import TableName
    from setpoint.model.window import Window

PLAIN = frozenset("_-. ")
HIDDEN = ("_", ".")
ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")


def table_folder(warehouse: Path, table: TableName) -> Path:
    """The folder of a table: `<warehouse>/shop/orders` for `dl.shop.orders`.

    A name that would leave the warehouse, be hidden from Spark or be read as a pattern is refused.
    """
    for part in table.parts[1:]:
        plain = all(letter.isalnum() or letter in PLAIN for letter in part)
        if not plain or part.startswith(HIDDEN) or part.endswith((".", " ")):
            raise UsageError(
                f"{part!r} cannot be the name of a folder, which {table} needs",
                next_step="use letters, digits, spaces, '_', '-' and '.', beginning with a letter",
            )
    return warehouse.joinpath(*table.parts[1:])


def partition_of(folder: str) -> tuple[str, str] | None:
    """The column and value of a folder `order_date=2026-04-25`; None for any other name."""
    column, equals, value = folder.partition("=")
    return (_unescaped(column), _unescaped(value)) if equals else None


def owned_folder(folder: str, column: str, window: Window) -> bool:
    """Whether the rows of a partition folder lie in the window, whose edges are whole days."""
    found = partition_of(folder)
    if found is None or found[0].lower() != column.lower():
        return False
    # ISO dates order as text; so does ISO text that is longer than a date.
    return window.ds <= found[1] < window.next_ds


def _unescaped(text: str) -> str:
    return ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
