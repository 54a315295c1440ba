"""Which reader knows a call, a function, an assignment; asked in a fixed order."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import How, Write
from setpoint.auditing.python import (
    databases,
    decorated,
    effects,
    operators,
    orchestrators,
    spark,
    warehouses,
)
from setpoint.auditing.python.orchestrators import DagState
from setpoint.auditing.python.sources import LOGICAL
from setpoint.auditing.python.values import UNKNOWN, Mark, Value

if TYPE_CHECKING:
    from collections.abc import Callable

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
    "on_unknown",
    "opens_transaction",
    "parameter",
]

_STATE_SETTERS = frozenset(
    [
        "set",
        "put",
        "write",
        "dump",
        "save",
        "save_state",
        "set_state",
        "update_state",
        "put_item",
        "update_item",
        "hset",
        "setex",
        "put_parameter",
        "put_object",
        "save_bookmark",
        "save_checkpoint",
        "update_watermark",
        "set_watermark",
        "save_cursor",
        "write_text",
        "upload_from_string",
        "update_one",
        "replace_one",
        "set_value",
        "store",
        "persist",
        "writelines",
    ]
)
_SETTER = re.compile(r"^(?:set|save|update|write|store|put|persist|record|mark|advance)_(?=\w)")
_GETTERS = frozenset({"get", "getattr", "pop", "setdefault"})
_MOST_NAME = 200
_ARGUMENTS = frozenset(
    {"parse_args", "parse_known_args", "getResolvedOptions", "get_current_context"}
)


def on_call(walker: Walker, call: Call) -> Value | None:
    """What is known of a call to something that is not the module's own."""
    if call.dotted.startswith(spark.FUNCTIONS):
        # An expression of columns: it opens nothing, runs nothing and acts on nobody.
        return spark.on_call(walker, call)
    known = _of_the_language(walker, call)
    if known is not None:
        return known
    if call.receiver.kind == "dbt":
        return _dbt(walker, call)
    # Most calls of a Spark job are on frames, and none of the others knows a frame better.
    readers = _SPARK_FIRST if call.receiver.kind == "frame" else _READERS
    for reader in readers:
        known = reader(walker, call)
        if known is not None:
            return known
    return None


def _of_the_language(walker: Walker, call: Call) -> Value | None:
    """Calls of Python itself, which keep, default or cut values."""
    if call.method == "timedelta":
        return orchestrators.timedelta(call)
    if call.method in _ARGUMENTS:
        return UNKNOWN
    if call.dotted == "dict":
        given = call.args[0].fields if call.args else {}
        return Value(kind="dict", fields={**given, **call.keywords})
    if call.method in {"dumps", "encode"} and call.args:
        return replace(call.args[0], text=None)
    if call.method in {"Path", "PurePath"}:
        return Value(kind="file", name=call.argument(0, "file").text or call.receiver.name)
    if call.method == "basename" and call.args:
        return _last_part(call.args[0])
    if call.method in _GETTERS and call.args:
        return _said_or_default(walker, call)
    return None


def _last_part(path: Value) -> Value:
    """A path's last part, without what only names the folder: scratch folders are random."""
    text = path.text.rsplit("/", 1)[-1] if path.text is not None else None
    marks = path.marks
    if text is None or "__h" not in text:
        marks = frozenset(mark for mark in marks if mark.kind not in {"random", "uuid"})
    return replace(path, text=text, marks=marks, line=0)


def _said_or_default(walker: Walker, call: Call) -> Value | None:
    """`given.get("day", today())`: the caller can say the day, so the clock is only a default."""
    place = 2 if call.method == "getattr" else 1
    default = call.argument(place, "default", "default_var", "fallback")
    key = call.argument(place - 1, "key").text or ""
    if not default.has("clock") or not key or "/" in key:
        return None
    if LOGICAL.match(key):
        return Value(marks=frozenset({Mark("logical", walker.module.spot(call.node), key)}))
    return Value(marks=call.receiver.marks, pending=call.receiver.pending)


def _dbt(walker: Walker, call: Call) -> Value:
    """A dbt model in Python: its references, and the settings that decide how it is written."""
    if call.method in {"ref", "source"}:
        parts = [value.text or "" for value in call.args]
        walker.tape.reads.setdefault(".".join(parts).lower())
        return Value(kind="frame")
    strategy = call.keywords.get("incremental_strategy", UNKNOWN).text or ""
    incremental = call.keywords.get("materialized", UNKNOWN).may_be("incremental")
    keyless = "unique_key" not in call.keywords and strategy not in {
        "insert_overwrite",
        "microbatch",
    }
    if call.method == "config" and incremental and keyless:
        write = Write(how=How.APPEND, table=call.receiver.name, spot=call.spot, language="dbt")
        walker.record(replace(write, scope=strategy))
    return UNKNOWN


def _retry_policy(walker: Walker, call: Call) -> Value | None:
    del walker
    return decorated.retry_policy(call) or decorated.partitions(call)


def _stored_state(walker: Walker, call: Call) -> Value | None:
    """A clock that is saved as the next run's starting point."""
    if call.method not in _STATE_SETTERS and not _SETTER.match(call.method):
        return None
    clocks = [mark for mark in call.marks if mark.kind == "clock"]
    shown_only = call.method == "set" and len(call.args) + len(call.keywords) == 1
    if not clocks or shown_only:
        # `gauge.set(time.time())` tells a monitor, and no run starts from it.
        return None
    values = (*call.args, *call.keywords.values())
    names = [call.receiver.name, call.receiver_text, call.method, *call.keywords, *walker.inside()]
    names += [
        value.text for value in values if value.text is not None and len(value.text) < _MOST_NAME
    ]
    names += [name for value in values for name in _clocked_fields(value)]
    said = [word for name in names for word in re.findall(r"\w+", name.replace("-", "_"))]
    if any(naming.is_cursor(_SETTER.sub("", word)) for word in said):
        # The fault is the storing; the clock may have been read long before.
        walker.tape.draw([replace(mark, spot=call.spot) for mark in clocks[:1]], "cursor")
    return None


def _clocked_fields(value: Value, depth: int = 4) -> list[str]:
    """The names under which a clock lies in a value, however deep."""
    found: list[str] = []
    for name, inner in value.fields.items() if depth else ():
        if any(mark.kind == "clock" for mark in inner.all_marks()):
            found += [name, *_clocked_fields(inner, depth - 1)]
    return found


def _http_window(walker: Walker, call: Call) -> Value | None:
    """A clock in the parameters of a request decides which data is read."""
    if not call.dotted.startswith(("requests.", "httpx.")):
        return None
    walker.tape.extracts = True
    shaped = UNKNOWN
    words = [call.keywords[word] for word in ("params", "json", "data") if word in call.keywords]
    for value in (*call.args, *words):
        marks = value.all_marks()
        shaped = shaped.shaped(marks, "request")
        if walker.tape.task:
            walker.tape.draw(marks, "request")
    return Value(kind="response", pending=shaped.pending)


def _command(walker: Walker, call: Call) -> Value | None:
    """A clock in the words of a command that a task starts decides what the command does."""
    if walker.tape.task and call.dotted.startswith(("subprocess.", "os.system")):
        walker.tape.draw([mark for mark in call.marks if mark.kind == "clock"], "request")
    return None


def _collected(walker: Walker, call: Call) -> Value | None:
    """`rows.append(row)`: the list then holds what the row was made of."""
    del walker
    function = call.node.func
    if call.method != "append" or len(call.args) != 1 or not isinstance(function, ast.Attribute):
        return None
    row = call.args[0]
    if not isinstance(function.value, ast.Name) or not row.fields or not row.all_marks():
        return None
    known = call.names.get(function.value.id, UNKNOWN)
    if known.items == ():
        call.names[function.value.id] = replace(known, kind="list", items=(row,))
    return None


_READERS: tuple[Callable[[Walker, Call], Value | None], ...] = (
    decorated.task_call,
    operators.on_call,
    _retry_policy,
    decorated.served,
    spark.on_call,
    effects.on_call,
    databases.on_call,
    warehouses.on_call,
    _stored_state,
    _http_window,
    _command,
    _collected,
)
_SPARK_FIRST = (spark.on_call, *(one for one in _READERS if one is not spark.on_call))


def on_function(walker: Walker, node: Function, names: Names) -> None:
    """A function definition: read at once when a decorator makes it a task, else when called."""
    decorated.on_function(walker, node, names)


_WINDOW_NAMES = frozenset(
    [
        "since",
        "start",
        "begin",
        "end",
        "until",
        "from",
        "to",
        "after",
        "before",
        "date",
        "day",
        "days",
        "today",
        "yesterday",
        "month",
        "week",
        "period",
        "window",
        "lower",
        "upper",
        "interval",
    ]
)
_NO_SINKS = frozenset(
    [
        "print",
        "info",
        "debug",
        "warning",
        "error",
        "exception",
        "log",
        "strftime",
        "strptime",
        "isoformat",
        "combine",
        "replace",
        "fromisoformat",
        "timedelta",
        "relativedelta",
        "date_range",
        "astimezone",
        "localize",
        "date",
        "time",
        "timestamp",
        "append",
        "extend",
        "sleep",
        "join",
        "format",
        "subtract",
        "add",
        "total_seconds",
        "update",
        "setdefault",
        "isin",
        "min",
        "max",
        "len",
        "int",
        "float",
        "str",
        "bool",
        "round",
        "sorted",
        "set",
        "list",
        "dict",
        "tuple",
        "parse",
        "to_datetime",
        "diff",
        "days",
    ]
)


_NO_WORK = re.compile(
    r"(?i)log|print|config|setup|check|valid|assert|notify|alert|metric|trace|sleep|wait|display"
)


def on_left_to_others(walker: Walker, call: Call) -> None:
    """A task calls an imported function for what it does, not for what it gives."""
    root = call.dotted.split(".")[0]
    imported = root in {one.split(".")[0] for one in walker.module.imports.values()}
    if imported and not _NO_WORK.search(call.method):
        walker.tape.calls.setdefault(call.dotted)


def on_unknown(walker: Walker, call: Call, value: Value) -> Value:
    """A call to something unknown: a clock given to it as a window shapes what it gives back."""
    if call.method in _NO_SINKS:
        return value
    _unknown_writer(walker, call)
    marks = _window_marks(call)
    if not marks:
        return value
    if walker.tape.task:
        walker.tape.draw(marks, "request")
    return value.shaped(marks, "request")


_MODES = ("if_exists", "if_table_exists", "write_mode", "write_disposition", "insert_mode")
_WRITERS = re.compile(r"(?i)write|save|export|load|insert|upload|^to_")


def _unknown_writer(walker: Walker, call: Call) -> None:
    """Any library's writer that is told to append."""
    modes = [call.keywords[name] for name in _MODES if name in call.keywords]
    if "mode" in call.keywords and _WRITERS.search(call.method):
        modes.append(call.keywords["mode"])
    if not any(one.text is not None and "append" in one.text.lower() for one in modes):
        return
    target = call.argument(9, "table", "table_name", "name", "destination", "path")
    walker.record(
        Write(
            how=How.APPEND,
            table=target.text or "",
            spot=call.spot,
            language="warehouse",
            rows="frame",
        ),
        call.receiver,
        *call.args,
    )


def _window_marks(call: Call) -> frozenset[Mark]:
    found: frozenset[Mark] = frozenset()
    for node, value in zip(call.node.args, call.args, strict=False):
        marks = value.all_marks()
        if marks and naming.words(_plain_name(node)) & _WINDOW_NAMES:
            found |= marks
    for name, value in call.keywords.items():
        marks = value.all_marks()
        if marks and naming.words(name) & _WINDOW_NAMES:
            found |= marks
    return frozenset(mark for mark in found if mark.kind in {"clock", "env", "logical"})


def _plain_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def on_named(walker: Walker, name: str, value: Value, source: ast.expr | None) -> None:
    """A plain assignment."""
    del walker, name, value, source


def on_cursor(walker: Walker, name: str, value: Value) -> None:
    """An attribute that is a cursor takes a value."""
    del name
    walker.tape.draw([mark for mark in value.all_marks() if mark.kind == "clock"], "cursor")


_BOUND = frozenset(
    {"args", "binds", "body", "filters", "headers", "kwargs", "parameters", "params", "payload",
     "query"}
)  # fmt: skip
"""Dictionaries of these names are handed to a query or a request; nothing is stored in them."""


def on_column(walker: Walker, base: Value, column: str, value: Value, *, name: str = "") -> Value:
    """`frame["column"] = value` or `state["last_run"] = value`: the base afterwards."""
    marks = value.all_marks()
    if base.kind == "frame":
        number = [mark for mark in marks if mark.kind != "logical"]
        return base.shaped(number, "column", column)
    if marks and naming.is_cursor(column) and not naming.words(name) & _BOUND:
        walker.tape.draw([mark for mark in marks if mark.kind == "clock"], "cursor")
    return replace(base, fields={**base.fields, column: value})


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
