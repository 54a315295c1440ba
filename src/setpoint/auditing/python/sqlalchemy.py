"""Writes by SQLAlchemy's own words: statements built by functions, and sessions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from setpoint.auditing.facts import How, Write
from setpoint.auditing.python.modules import spelled
from setpoint.auditing.python.values import UNKNOWN, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.auditing.python.calls import Call
    from setpoint.auditing.python.walking import Walker


def _core_insert(walker: Walker, call: Call) -> Value | None:
    """`insert(table)` and `table.insert()` of SQLAlchemy: run when a connection executes them."""
    if not walker.module.imported("sqlalchemy") or call.receiver.kind == "frame":
        return None
    if call.dotted.startswith("sqlalchemy."):
        node = call.node_of(0, "table")
        return Value(kind="orm-insert", name=spelled(node) if node is not None else "")
    if not call.args and not call.keywords:
        return Value(kind="orm-insert", name=call.receiver_text)
    return None


def _bulk_insert(walker: Walker, call: Call) -> Value | None:
    """Bulk inserts of SQLAlchemy's session."""
    if not walker.module.imported("sqlalchemy", "sqlmodel"):
        return None
    node = call.node_of(0, "mapper")
    model = spelled(node).rsplit(".", 1)[-1] if node is not None else ""
    name = model if call.method == "bulk_insert_mappings" else ""
    walker.record(
        Write(
            how=How.APPEND,
            table=name.lower(),
            spot=call.spot,
            language="database",
            rows="parameters",
            transaction=walker.transaction or walker.implicit,
        ),
        *call.args,
    )
    return UNKNOWN


def _delete(walker: Walker, call: Call) -> Value | None:
    """`session.query(Model).delete()`."""
    match = re.search(r"query\((\w+)\)", call.receiver_text)
    if match is None:
        return None
    where = re.search(r"\.filter", call.receiver_text)
    write = Write(
        how=How.DELETE if where else How.TRUNCATE,
        table=match.group(1).lower(),
        spot=call.spot,
        language="database",
        transaction=walker.transaction or walker.implicit,
    )
    walker.record(write)
    return UNKNOWN


HANDLERS: dict[str, Callable[[Walker, Call], Value | None]] = {
    "insert": _core_insert,
    "bulk_insert_mappings": _bulk_insert,
    "bulk_save_objects": _bulk_insert,
    "delete": _delete,
}
