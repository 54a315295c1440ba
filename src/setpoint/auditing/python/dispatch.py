"""Which reader knows a call, a function, an assignment; asked in a fixed order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.python import databases, effects, orchestrators, spark, warehouses
from setpoint.auditing.python.orchestrators import DagState
from setpoint.auditing.python.sources import LOGICAL
from setpoint.auditing.python.values import UNKNOWN, Mark, Value

if TYPE_CHECKING:
    import ast

    from setpoint.auditing.python.calls import Call
    from setpoint.auditing.python.evaluating import Names
    from setpoint.auditing.python.walking import Function, Walker

__all__ = [
    "DagState",
    "on_call",
    "on_column",
    "on_cursor",
    "on_function",
    "on_named",
    "opens_transaction",
    "parameter",
]

_STATE_SETTERS = frozenset(
    {
        "set",
        "put",
        "write",
        "dump",
        "save_state",
        "set_state",
        "update_state",
        "put_item",
        "hset",
        "put_parameter",
        "save_bookmark",
        "save_checkpoint",
        "update_watermark",
        "set_watermark",
        "save_cursor",
        "write_text",
    }
)
_ARGUMENTS = frozenset(
    {"parse_args", "parse_known_args", "getResolvedOptions", "get_current_context"}
)


def on_call(walker: Walker, call: Call) -> Value | None:
    """What is known of a call to something that is not the module's own."""
    if call.method == "timedelta":
        return orchestrators.timedelta(call)
    if call.method in _ARGUMENTS:
        return UNKNOWN
    for reader in (
        orchestrators.task_call,
        orchestrators.on_call,
        _retry_policy,
        spark.on_call,
        effects.on_call,
        databases.on_call,
        warehouses.on_call,
        _stored_state,
        _http_window,
    ):
        known = reader(walker, call)
        if known is not None:
            return known
    return None


def _retry_policy(walker: Walker, call: Call) -> Value | None:
    del walker
    return orchestrators.retry_policy(call)


def _stored_state(walker: Walker, call: Call) -> Value | None:
    """A clock that is saved as the next run's starting point."""
    if call.method not in _STATE_SETTERS or not call.marks:
        return None
    clocks = [mark for mark in call.marks if mark.kind == "clock"]
    if not clocks:
        return None
    named = " ".join(value.text or "" for value in call.args[:2])
    fields = [name for value in call.args for name in value.fields]
    shown = f"{named} {call.receiver_text} {call.text}"
    if any(
        naming.is_cursor(word)
        for word in [*re.findall(r"[\w-]+", shown.replace("-", "_")), *fields]
    ):
        walker.tape.draw(clocks, "cursor")
    return None


_WINDOW_WORDS = frozenset(["params", "json", "data"])


def _http_window(walker: Walker, call: Call) -> Value | None:
    """A clock in the parameters of a request decides which data is read."""
    if not call.dotted.startswith(("requests.", "httpx.")) and call.method not in {
        "get",
        "request",
    }:
        return None
    if call.dotted.startswith(("requests.", "httpx.")):
        walker.tape.extracts = True
    else:
        return None
    for value in (
        *call.args,
        *(call.keywords[word] for word in _WINDOW_WORDS if word in call.keywords),
    ):
        walker.tape.draw(value.all_marks(), "window")
    return Value(kind="response")


def on_function(walker: Walker, node: Function, names: Names) -> None:
    """A function definition: read at once when a decorator makes it a task, else when called."""
    orchestrators.on_function(walker, node, names)


def on_named(walker: Walker, name: str, value: Value, source: ast.expr | None) -> None:
    """A plain assignment."""
    del source
    if naming.is_cursor(name) and value.has("clock"):
        walker.pending_cursors[name] = value


def on_cursor(walker: Walker, name: str, value: Value) -> None:
    """An attribute that is a cursor takes a value."""
    del name
    walker.tape.draw([mark for mark in value.all_marks() if mark.kind == "clock"], "cursor")


def on_column(walker: Walker, base: Value, column: str, value: Value) -> None:
    """`frame["column"] = value` or `state["last_run"] = value`."""
    marks = value.all_marks()
    if not marks:
        return
    if base.kind != "frame" and naming.is_cursor(column):
        walker.tape.draw([mark for mark in marks if mark.kind == "clock"], "cursor")
    elif base.kind == "frame":
        walker.tape.draw(marks, "column", column=column)


def opens_transaction(walker: Walker, node: ast.expr, value: Value) -> bool:
    """Whether `with …:` commits what stands in it together."""
    return databases.opens_transaction(walker, node, value)


def parameter(walker: Walker, name: str) -> Value:
    """What a parameter's name alone tells."""
    if LOGICAL.match(name):
        spot = walker.module.spot(walker.module.tree.body[0]) if walker.module.tree.body else None
        if spot is not None:
            return Value(marks=frozenset({Mark("logical", spot, name)}))
    if re.fullmatch(r"(?:\w+_)?(?:df|frame|data_?frame)(?:_\w+)?", name):
        return Value(kind="frame")
    return UNKNOWN
