"""Names of tables and paths as the code says them, holes shown as `{expression}`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.python.modules import spelled
from setpoint.auditing.python.values import UNKNOWN
from setpoint.auditing.sql.holes import HOLE

if TYPE_CHECKING:
    import ast

    from setpoint.auditing.python.values import Value
    from setpoint.auditing.python.walking import Walker


def table_text(walker: Walker, value: Value, node: ast.expr | None = None) -> str:
    """The name of a table or path, holes shown as `{expression}`; of an unknown one its source."""
    if value.text is None:
        if value.choices:
            return walker_names(walker, value.choices[0]).lower()
        return "{" + spelled(node)[:60].lower() + "}" if node is not None else ""
    return walker_names(walker, value.text).lower()


def walker_names(walker: Walker, text: str) -> str:
    """The text with holes shown as the expressions they stand for."""
    if "__h" not in text:
        return text
    return HOLE.sub(
        lambda match: "{" + walker.holes.get(int(match.group(1)), ("?", UNKNOWN))[0] + "}",
        text,
    )
