"""Hidden inputs of a statement: clocks, randomness, sequences, and the role each one plays."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlglot import exp

from setpoint.auditing import naming
from setpoint.auditing.facts import Source
from setpoint.auditing.sql.holes import HOLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_CLOCK_CLASSES = (
    exp.CurrentDate,
    exp.CurrentTimestamp,
    exp.CurrentTime,
    exp.CurrentDatetime,
    exp.CurrentTimestampLTZ,
    exp.Localtime,
    exp.Localtimestamp,
    exp.Systimestamp,
    exp.UtcDate,
    exp.UtcTime,
    exp.UtcTimestamp,
)
_MARK = "__h"
_CLOCK_NAMES = frozenset(
    [
        "now",
        "getdate",
        "sysdate",
        "systimestamp",
        "sysdatetime",
        "getutcdate",
        "sysutcdatetime",
        "sysdatetimeoffset",
        "today",
        "yesterday",
        "curdate",
        "curtime",
        "utc_date",
        "utc_timestamp",
        "clock_timestamp",
        "statement_timestamp",
        "transaction_timestamp",
        "current_date",
        "current_timestamp",
        "current_time",
        "current_datetime",
        "localtimestamp",
        "localtime",
        "now64",
        "current_timestamp_ntz",
    ]
)
# Also names that people give to columns of their own.
_CLOCK_COLUMNS = _CLOCK_NAMES - {"now", "today", "yesterday", "localtime"}
_COLUMN_NAMES = _CLOCK_COLUMNS | {"nextval"}
_CLOCK_KEYWORDS = frozenset({"current_date", "current_timestamp", "localtimestamp", "sysdate"})
_CLOCKS_WITHOUT_ARGUMENTS = frozenset({"unix_timestamp", "date", "timestamp"})
_RANDOM_NAMES = frozenset({"random", "rand", "randn", "uniform", "randstr", "rand64", "normal"})
_UUID_NAMES = frozenset(
    [
        "uuid",
        "newid",
        "gen_random_uuid",
        "generate_uuid",
        "uuid_generate_v4",
        "uuid_string",
        "newsequentialid",
        "sys_guid",
        "generateuuidv4",
        "uuid_generate_v1",
        "uuid_generate_v1mc",
    ]
)
_RUN_WORDS = frozenset(
    [
        "batch",
        "run",
        "load",
        "job",
        "session",
        "request",
        "trace",
        "correlation",
        "etl",
        "execution",
        "process",
        "invocation",
    ]
)
_ROW_NUMBERS = (exp.RowNumber, exp.Rank, exp.DenseRank)
# Every kind that `source_of` asks for; nodes of others are not shown to it.
_HIDING = (
    *_CLOCK_CLASSES, *_ROW_NUMBERS, exp.Rand, exp.Randn, exp.Randstr, exp.Uuid, exp.NextValueFor,
    exp.Anonymous, exp.Column, exp.Var, exp.Cast, exp.TryCast, exp.TableSample,
)  # fmt: skip
_NOW_TEXT = re.compile(r"^(?:now|today|yesterday|tomorrow)$", re.IGNORECASE)
_FILTERS = (exp.Where, exp.Having, exp.Qualify, exp.PreWhere)


@dataclass(frozen=True, kw_only=True)
class Input:
    """One hidden input, or one hole, and what it decides."""

    source: Source | None
    role: str
    column: str
    start: int
    """Offset of its first character, or -1 when the parser does not say."""
    text: str
    hole: int = -1


def inputs_of(
    root: exp.Expr, columns: tuple[str, ...], variables: Mapping[str, int]
) -> Iterator[Input]:
    """Every hidden input and hole in a statement, with its role.

    `columns` are the target's columns in the order of the values, where the statement names them;
    `variables` were set from a clock, each at an offset.
    """
    filtered = _Filtered(root)
    hiding = _hiding_kinds()
    for node in root.walk():
        if variables:
            yield from _variable(node, columns, filtered, variables)
        kind = type(node)
        source = source_of(node) if kind in hiding else None
        if source is None and kind is not exp.Literal and kind is not exp.Identifier:
            continue
        if source is None and _MARK not in node.this.lower():
            continue
        if source is not None:
            yield from _as_input(node, source, root, columns, filtered)
        else:
            for match in HOLE.finditer(node.name):
                if _is_lease(node):
                    continue
                role, column = role_of(node, columns, filtered)
                yield Input(
                    source=None,
                    role=role,
                    column=column,
                    start=-1,
                    text="",
                    hole=int(match.group(1)),
                )


# Every way to write a hidden input holds one of these pieces, in lower case.
HIDING_PIECES = (
    _MARK, "current", "curdate", "curtime", "now", "getdate", "getutc", "sys", "today", "yesterday",
    "tomorrow", "local", "utc", "clock_", "date(", "date (", "timestamp(", "timestamp (", "rand",
    "uniform", "normal", "uuid", "newid", "newsequential", "nextval", "next", "row_number", "rank",
    "monoton", "sample", "statement_timestamp", "transaction_timestamp",
)  # fmt: skip


def may_hide(text: str) -> bool:
    """Whether a statement of this text can hold a hidden input or a hole; most cannot."""
    lowered = text.lower()
    return any(piece in lowered for piece in HIDING_PIECES)


@lru_cache(maxsize=1)
def _hiding_kinds() -> frozenset[type[exp.Expr]]:
    """The kinds of nodes that can be a hidden input at all; most nodes are of others."""
    names = {"MonotonicallyIncreasingId"}
    return frozenset(
        kind
        for kind in vars(exp).values()
        if isinstance(kind, type) and (issubclass(kind, _HIDING) or kind.__name__ in names)
    )


def _variable(
    node: exp.Expr,
    columns: tuple[str, ...],
    filtered: _Filtered,
    variables: Mapping[str, int],
) -> Iterator[Input]:
    """The use of a variable that was set from a clock: reported where it was set."""
    plain = isinstance(node, exp.Column) and not node.table
    if not plain and not isinstance(node, (exp.Parameter, exp.Placeholder)):
        return
    name = node.name.lower().lstrip("@$:")
    if name in variables:
        role, column = role_of(node, columns, filtered)
        yield Input(source=Source.CLOCK, role=role, column=column, start=variables[name], text=name)


def _as_input(
    node: exp.Expr,
    source: Source,
    root: exp.Expr,
    columns: tuple[str, ...],
    filtered: _Filtered,
) -> Iterator[Input]:
    role, column = role_of(node, columns, filtered)
    if not _matters(node, source, role, column, root, filtered):
        return
    if source is Source.CLOCK and _is_lease(node):
        return
    if source is Source.UUID and role == "order":
        source = Source.RANDOM
    yield Input(source=source, role=role, column=column, start=_start(node), text=_text(node))


def source_of(node: exp.Expr) -> Source | None:  # noqa: C901 - one answer a kind
    """The kind of hidden input that a node is, or None."""
    if isinstance(node, _CLOCK_CLASSES):
        return Source.CLOCK
    if isinstance(node, (exp.Rand, exp.Randn, exp.Randstr)):
        return None if _seeded(node) else Source.RANDOM
    if isinstance(node, exp.Uuid):
        return Source.UUID if not node.args.get("name") else None
    if isinstance(node, _ROW_NUMBERS):
        return Source.ROW_NUMBER
    if isinstance(node, exp.NextValueFor):
        return Source.SEQUENCE
    if isinstance(node, exp.Anonymous):
        return _source_of_name(node.name.lower(), bool(node.expressions))
    if isinstance(node, exp.Column):
        return _source_of_column(node)
    if isinstance(node, exp.Var):
        # A dialect that takes the last argument of DATE_ADD for a unit.
        return Source.CLOCK if node.name.lower() in _CLOCK_KEYWORDS else None
    if isinstance(node, (exp.Cast, exp.TryCast)):
        return _source_of_cast(node)
    if isinstance(node, exp.TableSample):
        return None if node.args.get("seed") or _exact_sample(node) else Source.RANDOM
    if isinstance(node, exp.Func) and type(node).__name__ == "MonotonicallyIncreasingId":
        return Source.SEQUENCE
    return None


_LEASE = re.compile(r"(?i)expir|lease|heartbeat|(?:^|_)lock|(?:^|_)ttl(?:_|$)|claimed_at")


def _is_lease(node: exp.Expr) -> bool:
    """Whether it is compared with the end of a lease, a lock or a cache's entry, not with data."""
    test = node.find_ancestor(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
    return test is not None and any(_LEASE.search(one.name) for one in test.find_all(exp.Column))


def _seeded(node: exp.Expr) -> bool:
    seed = node.args.get("this")
    return isinstance(seed, exp.Literal) and not seed.is_string


def _exact_sample(node: exp.TableSample) -> bool:
    percent = node.args.get("percent")
    return bool(node.args.get("bucket_numerator")) or (
        isinstance(percent, exp.Literal) and percent.name == "100"
    )


def _source_of_name(name: str, arguments: bool) -> Source | None:  # noqa: FBT001 - private
    if name in _CLOCK_NAMES or (name in _CLOCKS_WITHOUT_ARGUMENTS and not arguments):
        return Source.CLOCK
    if name in _UUID_NAMES:
        return Source.UUID
    if name in _RANDOM_NAMES:
        return None if arguments and name in {"rand", "random"} else Source.RANDOM
    if name in {"nextval", "monotonically_increasing_id", "seq4", "seq8", "seq1", "seq2"}:
        return Source.SEQUENCE
    return None


def _source_of_column(node: exp.Column) -> Source | None:
    name = node.name.lower()
    if name not in _COLUMN_NAMES:
        return None
    if isinstance(node.this, exp.Identifier) and node.this.quoted:
        return None
    if node.table:
        return Source.SEQUENCE if name == "nextval" else None
    return Source.CLOCK if name in _CLOCK_COLUMNS else None


def _source_of_cast(node: exp.Expr) -> Source | None:
    inner = node.this
    if isinstance(inner, exp.Literal) and inner.is_string and _NOW_TEXT.match(inner.name):
        return Source.CLOCK
    return None


def role_of(node: exp.Expr, columns: tuple[str, ...], filtered: _Filtered) -> tuple[str, str]:
    """What the node decides, and the column that takes its value if any."""
    child, parent = node, node.parent
    while parent is not None:
        answer = _role_under(child, parent, columns)
        if answer is not None:
            role, column = answer
            if role == "value" and column.lower() in filtered and _is_inner(parent):
                return "filter", column
            return answer
        child, parent = parent, parent.parent
    return "value", ""


def _role_under(
    child: exp.Expr, parent: exp.Expr, columns: tuple[str, ...]
) -> tuple[str, str] | None:
    if isinstance(parent, _FILTERS):
        return "filter", ""
    if isinstance(parent, exp.Join):
        return ("join", "") if child is parent.args.get("on") else ("source", "")
    if isinstance(parent, exp.Merge):
        return ("join", "") if child is parent.args.get("on") else ("source", "")
    if isinstance(parent, exp.When):
        return ("filter", "") if child is parent.args.get("condition") else None
    if isinstance(parent, (exp.Order, exp.Limit, exp.Distribute, exp.Sort, exp.Cluster)):
        return type(parent).__name__.lower(), ""
    if isinstance(parent, exp.Table):
        return "name" if child is not parent.args.get("alias") else "source", ""
    return _column_under(child, parent, columns)


def _column_under(
    child: exp.Expr, parent: exp.Expr, columns: tuple[str, ...]
) -> tuple[str, str] | None:
    if isinstance(parent, exp.Alias) and isinstance(parent.parent, exp.Select):
        return "value", parent.alias
    if isinstance(parent, exp.Select):
        return "value", _at(parent.expressions, child, columns if _is_outer(parent) else ())
    if isinstance(parent, exp.EQ) and isinstance(parent.parent, exp.Partition):
        return "partition", parent.this.name
    if isinstance(parent, exp.EQ) and isinstance(
        parent.parent, (exp.Update, exp.OnConflict, exp.Set)
    ):
        return "value", parent.this.name
    if isinstance(parent, exp.DefaultColumnConstraint):
        definition = parent.find_ancestor(exp.ColumnDef)
        return "default", definition.name if definition else ""
    if isinstance(parent, exp.Tuple) and isinstance(parent.parent, exp.Values):
        return "value", _at(parent.expressions, child, columns)
    if isinstance(parent, exp.Tuple) and isinstance(parent.parent, exp.Insert):
        named = parent.parent.this
        names = tuple(one.name for one in named.expressions) if named is not None else ()
        return "value", _at(parent.expressions, child, names)
    return None


def _at(items: list[exp.Expr], child: exp.Expr, columns: tuple[str, ...]) -> str:
    for index, item in enumerate(items):
        if item is child:
            return columns[index] if index < len(columns) else item.output_name
    return ""


def _is_outer(select: exp.Select) -> bool:
    return isinstance(select.parent, (exp.Insert, exp.Create, exp.Union)) or select.parent is None


def _is_inner(node: exp.Expr) -> bool:
    select = node if isinstance(node, exp.Select) else node.find_ancestor(exp.Select)
    return isinstance(select, exp.Select) and not _is_outer(select)


class _Filtered:
    """Names of columns that some filter or join of a statement reads; found out when asked."""

    def __init__(self, root: exp.Expr) -> None:
        self._root = root
        self._names: set[str] | None = None

    def __contains__(self, name: str) -> bool:
        if self._names is None:
            self._names = set()
            for node in self._root.find_all(*_FILTERS, exp.Join):
                condition = node.args.get("on") if isinstance(node, exp.Join) else node.this
                if isinstance(condition, exp.Expr):
                    self._names.update(
                        column.name.lower()
                        for column in condition.find_all(exp.Column)
                        if not _is_of_subquery(column, condition)
                    )
        return name in self._names


def _is_of_subquery(column: exp.Expr, condition: exp.Expr) -> bool:
    """Whether a query inside of a filter reads the column: it may be another table's."""
    up = column.parent
    while up is not None and up is not condition.parent:
        if isinstance(up, exp.Select):
            return True
        up = up.parent
    return False


def _matters(  # noqa: PLR0917 - private, called once
    node: exp.Expr,
    source: Source,
    role: str,
    column: str,
    root: exp.Expr,
    filtered: _Filtered,
) -> bool:
    if source is Source.ROW_NUMBER:
        return (
            role == "value"
            and naming.is_surrogate(column)
            and column.lower() not in filtered
            and not _hashed(node)
        )
    if source is Source.UUID:
        return role in {"value", "order", "default"} and not (naming.words(column) & _RUN_WORDS)
    if source is Source.RANDOM:
        return _random_matters(node, role)
    if source is Source.SEQUENCE:
        return role in {"value", "filter", "join"} and isinstance(
            root, (exp.Insert, exp.Create, exp.Merge, exp.Select, exp.Union)
        )
    return role not in {"order", "distribute", "sort", "cluster"}


def _random_matters(node: exp.Expr, role: str) -> bool:
    if role == "order":
        select = node.find_ancestor(exp.Select)
        return select is not None and (
            select.args.get("limit") is not None or node.find_ancestor(exp.Window) is not None
        )
    return role not in {"distribute", "sort", "cluster", "source", "name"} or isinstance(
        node, exp.TableSample
    )


def _hashed(node: exp.Expr) -> bool:
    return node.find_ancestor(exp.MD5, exp.SHA, exp.SHA2) is not None


def _start(node: exp.Expr) -> int:
    for one in node.walk():
        start = one.meta.get("start")
        if isinstance(start, int):
            return start
    up = node.parent
    while up is not None:
        for one in up.walk():
            start = one.meta.get("start")
            if isinstance(start, int):
                return start
        up = up.parent
    return -1


def _text(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return f"{node.name}()"
    if isinstance(node, exp.Column):
        return node.name
    name = node.meta.get("name") or node.key
    return _SHOWN.get(type(node).__name__, str(name))


_SHOWN = {
    "CurrentDate": "current_date",
    "CurrentTimestamp": "current_timestamp",
    "CurrentTime": "current_time",
    "CurrentDatetime": "current_datetime",
    "CurrentTimestampLTZ": "current_timestamp",
    "Rand": "rand()",
    "Uuid": "uuid()",
    "RowNumber": "row_number()",
    "Rank": "rank()",
    "DenseRank": "dense_rank()",
    "TableSample": "tablesample",
    "Cast": "'now'",
    "NextValueFor": "next value for",
}
