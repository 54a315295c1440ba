"""Conditions around a spot: what was checked before, which arm it is, what is known after."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.python.modules import spelled
from setpoint.auditing.python.values import UNKNOWN, either

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from setpoint.auditing.python.evaluating import Names

_ALREADY = re.compile(
    r"already|processed|is_loaded|was_loaded|has_been|duplicat|\bseen\b|been_sent|_sent\b"
    r"|\bsent\b|is_new|_exists?\b|\bexists?\b|\bexisting\w*"
    r"|not\s+in\s+\w*(?:exist|seen|known|processed|loaded|done|db_|old|current|stored)|is_empty"
    r"|fetchone|rowcount|count\w*\s*==\s*0|row_count|last_(?:id|date|ts)"
)
_OTHER_EXISTENCE = re.compile(
    r"path|file|\bdir|folder|bucket|blob|table|schema|database|topic|queue|has_next|key_exists"
    r"|column|os\.",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:i|idx|index|n|batch|chunk|count|first\w*|is_first|page|iteration"
    r"|k)\b\s*(?:==\s*[01]\b|$)|\bfirst\w*\b|is_first"
)
_LEAVES = (ast.Return, ast.Continue, ast.Raise, ast.Break)


def checked_before(conditions: Iterable[str]) -> bool:
    """Whether one of the conditions asks if the work was done before."""
    return any(_ALREADY.search(one) and not _OTHER_EXISTENCE.search(one) for one in conditions)


LOOKED_UP = "fetchone"
"""The condition under which something stands that is done when a row was not found."""
LOOKUPS = frozenset(
    {"fetchone", "first", "one_or_none", "scalar", "scalar_one_or_none", "find_one", "get_first"}
)
"""Calls that give a row, or nothing."""


def asks_for_absence(test: ast.expr, names: Names) -> bool | None:
    """Whether the test holds when a row that was looked up is not there.

    False when it holds because the row is there; None when it asks something else.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = asks_for_absence(test.operand, names)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        answers = [asks_for_absence(one, names) for one in test.values]
        return True if True in answers else None
    asked: ast.expr = test
    absent = False
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        other = test.comparators[0]
        if not isinstance(other, ast.Constant) or other.value is not None:
            return None
        asked, absent = test.left, isinstance(test.ops[0], (ast.Is, ast.Eq))
    if isinstance(asked, ast.Name) and "looked-up" in names.get(asked.id, UNKNOWN).flags:
        return absent
    return None


def first_round(conditions: Iterable[str]) -> bool:
    """Whether one of the conditions is true in a loop's first round only."""
    return any(_FIRST.search(one) for one in conditions)


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether a block ends by leaving what it stands in."""
    last = body[-1] if body else None
    if isinstance(last, _LEAVES):
        return True
    return (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Call)
        and spelled(last.value.func) in {"sys.exit", "exit", "quit", "dbutils.notebook.exit"}
    )


def merge(names: Names, one: Names, other: Names, test: str) -> None:
    """Names after an `if`: what both arms may have left."""
    for name in {*one, *other}:
        left, right = one.get(name), other.get(name)
        if left is right and left is not None:
            names[name] = left
            continue
        if left is None or right is None:
            names[name] = left or right or UNKNOWN
            continue
        if left.has("clock") != right.has("clock") and _asks_whether_given(test, name):
            # `if day is None: day = today()`: the clock is only a default.
            names[name] = right if left.has("clock") else left
            continue
        names[name] = either(left, right)


_PLAIN_TEST = re.compile(r"(?:not )?[\w.]+(?:\[['\"]\w+['\"]\])?(?: is (?:not )?None)?")
_WINDOW_WORDS = frozenset(
    {
        "after", "before", "begin", "cutoff", "date", "day", "end", "from", "month", "period",
        "since", "start", "to", "until", "week", "window", "year",
    }
)  # fmt: skip


def _asks_whether_given(test: str, name: str) -> bool:
    """Whether a test asks if somebody said the value, or another that says the same window."""
    if re.search(rf"\b{re.escape(name)}\b", test):
        return True
    return bool(_PLAIN_TEST.fullmatch(test)) and bool(naming.words(test) & _WINDOW_WORDS)
