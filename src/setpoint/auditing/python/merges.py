"""Delta's own merge, as Python builds it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import How, Write
from setpoint.auditing.python.names import table_text
from setpoint.auditing.python.values import Value
from setpoint.auditing.sql.writes import key_problem

if TYPE_CHECKING:
    from setpoint.auditing.python.calls import Call
    from setpoint.auditing.python.walking import Walker


def is_delta_merge(call: Call) -> bool:
    """Whether `x.merge(…)` is Delta's, not that of pandas."""
    condition = call.argument(1, "condition")
    return (condition.text is not None and "=" in condition.text) or (
        "delta" in call.receiver.kind and len(call.args) + len(call.keywords) > 1
    )


def merge(walker: Walker, call: Call) -> Value:
    """`table.merge(source, condition)`."""
    source = call.argument(0, "source")
    condition = call.argument(1, "condition").text or ""
    keys = tuple(
        dict.fromkeys(
            right.lower()
            for left, right in re.findall(r"([\w.`]+)\s*(?:=|<=>)\s*[\w`]+\.`?(\w+)", condition)
            if left
        )
    )
    plain = condition.replace(" ", "").lower()
    constant = plain in {"true", "1=1"}
    problem = "ON compares no column" if constant else key_problem(keys)
    write = Write(
        how=How.MERGE,
        table=call.receiver.name or table_text(walker, call.receiver),
        spot=call.spot,
        language="spark",
        rows="frame",
        keys=keys,
        key_problem=problem,
        reduced="reduced" in source.flags,
        exact=condition[:200],
    )
    walker.record(write, source)
    return Value(kind="delta-merge")


def on_merge(walker: Walker, call: Call) -> Value:
    """The clauses of a merge."""
    values = call.argument(1 if call.method == "whenMatchedUpdate" else 0, "set", "values")
    for column, value in values.fields.items():
        text = value.text or ""
        name = naming.bare(column)
        if re.search(rf"\b\w+\.{re.escape(name)}\s*[+-]", text) and walker.tape.writes:
            walker.tape.writes[-1] = replace(walker.tape.writes[-1], counter=name)
        walker.tape.draw(value.all_marks(), "column", column=name)
    return call.receiver
