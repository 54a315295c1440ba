"""Data frames: what filters, columns, joins and samples do to the data that is written later."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from setpoint.auditing.python.names import table_text
from setpoint.auditing.python.values import UNKNOWN, Mark, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.auditing.facts import Spot
    from setpoint.auditing.python.calls import Call
    from setpoint.auditing.python.walking import Walker


def knows(method: str) -> bool:
    """Whether a call of this name may do something to a frame or a column."""
    return method in _FRAME_CALLS


def on_call(walker: Walker, call: Call) -> Value | None:
    """A call on a data frame, or on something that makes columns."""
    known = _FRAME_CALLS.get(call.method)
    return known(walker, call) if known is not None else None


def _with_column(walker: Walker, call: Call) -> Value:
    del walker
    column = call.argument(0, "colName").text or ""
    keyed = ("keyed",) if column == "key" else ()
    return call.receiver.data(*keyed).shaped(call.argument(1, "col").all_marks(), "column", column)


def _named(walker: Walker, call: Call) -> Value | None:
    del walker
    if not call.args or call.args[0].text is None:
        return None
    if call.receiver.kind == "frame":
        return call.receiver
    return Value(marks=call.receiver.marks, name=call.args[0].text, kind="column")


def _columns(walker: Walker, call: Call) -> Value | None:
    if call.receiver.kind != "frame" and not call.marks and call.receiver.kind != "":
        return None
    del walker
    frame = call.receiver.data()
    if re.search(r"(?i)\bas key\b|alias\(['\"]key['\"]\)|['\"]key['\"]", call.source()):
        frame = frame.flagged("keyed")
    for value in (*call.args, *(one for arg in call.args for one in arg.items or ())):
        if value.name:
            frame = frame.shaped(value.marks, "column", value.name)
        elif value.text is not None:
            column = re.search(r"(?i)\bas\s+`?(\w+)`?\s*$", value.text)
            marks = marks_in_text(value.text, call.spot)
            frame = frame.shaped(marks, "column", column.group(1) if column else "")
    for column_name, value in [
        *call.keywords.items(),
        *(pair for arg in call.args for pair in arg.fields.items()),
    ]:
        frame = frame.shaped(value.all_marks(), "column", column_name)
    return frame


def _expression(walker: Walker, call: Call) -> Value | None:
    """`F.expr("uuid()")`."""
    del walker
    text = call.argument(0, "str").text
    return Value(marks=frozenset(marks_in_text(text, call.spot))) if text is not None else None


_TEXT_MARKS = (
    ("clock", re.compile(r"(?i)\bcurrent_(?:date|timestamp)\b|\bnow\(\)|\bgetdate\(\)")),
    ("uuid", re.compile(r"(?i)\buuid\(\)")),
    ("random", re.compile(r"(?i)\brandn?\(\)")),
    ("sequence", re.compile(r"(?i)\bmonotonically_increasing_id\(\)")),
    ("row-number", re.compile(r"(?i)\brow_number\(\)")),
)


_NULL = re.compile(r"(?i)\.isnull\(|\bis null\b|\bisnull\(|\.isna\(")


def marks_in_text(text: str, spot: Spot) -> list[Mark]:
    """The hidden inputs in a SQL expression that Spark is given as text."""
    found: list[Mark] = []
    for kind, pattern in _TEXT_MARKS:
        match = pattern.search(text)
        if match is not None:
            found.append(Mark(kind, spot, match.group(0), "spark"))
    return found


def _filter(walker: Walker, call: Call) -> Value | None:
    condition = call.argument(0, "condition", "expr")
    marks = set(call.marks)
    if condition.text is not None:
        marks.update(marks_in_text(condition.text, call.spot))
    if call.receiver.kind != "frame" and not marks:
        return None
    source = call.source()
    flags: list[str] = []
    if re.search(r"(?:rn|row_?num(?:ber)?|rank|rnk)\W{1,12}1\b", source):
        flags.append("reduced")
    absent = "left" in call.receiver.flags and _NULL.search(source)
    if absent or "left_only" in source or re.search(r"~.*isin\(", source):
        flags.append("anti")
    if any(mark.kind == "logical" for mark in marks):
        walker.tape.logical_date = True
    return call.receiver.data(*flags).shaped(marks, "filter")


def _reduce(walker: Walker, call: Call) -> Value | None:
    del walker
    return call.receiver.data("reduced") if call.receiver_is_data() else None


_LEFT = re.compile(r"(?i)^left(?:_?outer)?\b|['\"]left(?:_?outer)?['\"]")


def _join(walker: Walker, call: Call) -> Value | None:
    del walker
    how = call.argument(2, "how").text or ""
    if call.receiver.marks or not call.receiver_is_data():
        return None
    anti = "anti" in how.lower() or call.method == "exceptAll"
    anti = anti or (call.method == "subtract" and call.receiver.kind == "frame")
    if anti or re.search(r"['\"]left_?anti['\"]", call.source()):
        joined_frame = call.receiver.data("anti")
    elif call.receiver.kind == "frame":
        kept = ("left",) if _LEFT.search(f"{how} {call.source()}") else ()
        joined_frame = call.receiver.data(*kept, lost=frozenset({"reduced"}))
    else:
        return None
    return replace(joined_frame, pending=call.pending)


def _union(walker: Walker, call: Call) -> Value | None:
    del walker
    if call.receiver.kind != "frame":
        return None
    frame = call.receiver.data(lost=frozenset({"reduced", "anti", "left"}))
    return replace(frame, pending=call.pending)


def _drop(walker: Walker, call: Call) -> Value | None:
    """A column that is dropped again never mattered."""
    del walker
    if call.receiver.kind != "frame":
        return None
    names = {one.text for arg in call.args for one in (arg, *(arg.items or ()))}
    names |= {one.text for one in call.keywords.get("columns", UNKNOWN).items or ()}
    kept = frozenset(one for one in call.receiver.pending if one.column not in names)
    return replace(call.receiver, pending=kept)


def _sample(walker: Walker, call: Call) -> Value | None:
    if call.receiver.kind != "frame":
        return None
    seeded = any(word in call.keywords for word in ("seed", "random_state"))
    literal_seed = len(call.args) > (2 if call.method == "sample" else 1)
    whole = call.keywords.get("frac", UNKNOWN).text in {"1", "1.0"}
    frame = call.receiver.data()
    if seeded or literal_seed or walker.seeded or whole:
        return frame
    return frame.shaped([Mark("random", call.spot, f"{call.method}()", "spark")], "filter")


def _view(walker: Walker, call: Call) -> Value:
    name = table_text(walker, call.argument(0, "name"))
    walker.memory.reduced[name] = "reduced" in call.receiver.flags
    walker.memory.temporary.add(name)
    walker.views[name] = call.receiver
    return UNKNOWN


_FRAME_CALLS: dict[str, Callable[[Walker, Call], Value | None]] = {
    "withColumn": _with_column,
    "alias": _named,
    "name": _named,
    "select": _columns,
    "selectExpr": _columns,
    "withColumns": _columns,
    "assign": _columns,
    "expr": _expression,
    "drop": _drop,
    "sample": _sample,
    "randomSplit": _sample,
    "join": _join,
    "merge": _join,
    "subtract": _join,
    "exceptAll": _join,
    "union": _union,
    "unionByName": _union,
    "unionAll": _union,
    "createOrReplaceTempView": _view,
    "createTempView": _view,
    "createOrReplaceGlobalTempView": _view,
    "registerTempTable": _view,
    **dict.fromkeys(("filter", "where", "query"), _filter),
    **dict.fromkeys(
        (
            "dropDuplicates",
            "drop_duplicates",
            "dropDuplicatesWithinWatermark",
            "distinct",
            "agg",
            "groupBy",
            "groupby",
        ),
        _reduce,
    ),
}
