"""What makes a second INSERT harmless, and what reduces a MERGE source to one row a key."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sqlglot import exp

from setpoint.auditing import naming
from setpoint.auditing.sql.dialects import dialect_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlglot.generator import Generator

_FUEL = 24
"""How many selects deep a source is followed; generated SQL nests without end."""


def table_name(node: object) -> str:
    """The table's dotted name in lower case, without quotes; empty for anything else."""
    if isinstance(node, exp.Schema):
        node = node.this
    if not isinstance(node, exp.Table):
        return ""
    parts = [part.name for part in node.parts if part.name]
    mark = "#" if any(part.args.get("temporary") for part in node.parts) else ""
    return mark + ".".join(parts).lower()


def spelled_sql(node: exp.Expr) -> str:
    """An expression as SQL, for filters and scopes that are compared as text."""
    try:
        return _generator().generate(node, copy=False)
    except ValueError:
        # Some of ClickHouse's own words are known to its own writer only.
        return node.sql("clickhouse", copy=False)


@lru_cache(maxsize=1)
def _generator() -> Generator:
    """The writer of plain SQL, made once: making one costs as much as using it."""
    return dialect_named("").generator()


def insert_guard(insert: exp.Insert, target: str, tables: Iterable[exp.Table]) -> str:
    """Why inserting again adds nothing, in words; empty when the statement does not say so.

    `tables` are those that it reads.
    """
    if insert.args.get("conflict"):
        return "an ON CONFLICT clause"
    if insert.args.get("alternative") or insert.args.get("ignore"):
        return "INSERT OR REPLACE/IGNORE"
    query = insert.expression
    if not isinstance(query, exp.Query):
        return ""
    if not any(naming.same_table(table_name(table), target) for table in tables):
        # Without reading what it writes nothing in it can be a guard.
        return ""
    mirrors = _names_that_read(target, insert)
    for check in (_absent_rows, _left_anti_join, _except, _watermark):
        reason = check(insert, mirrors)
        if reason:
            return reason
    return ""


def _names_that_read(target: str, root: exp.Expr) -> frozenset[str]:
    """The target and every CTE that reads it, directly or through another."""
    names = {target}
    for _ in range(4):
        before = len(names)
        for cte in root.find_all(exp.CTE):
            if any(_one_of(table_name(table), names) for table in cte.this.find_all(exp.Table)):
                names.add(cte.alias.lower())
        if len(names) == before:
            break
    return frozenset(names)


def _one_of(name: str, names: frozenset[str] | set[str]) -> bool:
    return any(naming.same_table(name, other) for other in names)


def _reads(node: exp.Expr, mirrors: frozenset[str]) -> bool:
    return any(_one_of(table_name(table), mirrors) for table in node.find_all(exp.Table))


def _absent_rows(root: exp.Expr, mirrors: frozenset[str]) -> str:
    for node in root.find_all(exp.Not):
        if node.find(exp.Exists, exp.In) and _reads(node, mirrors):
            return "NOT EXISTS / NOT IN on the target"
    for test in root.find_all(exp.NEQ):
        if isinstance(test.expression, (exp.All, exp.Any)) and _reads(test, mirrors):
            return "<> ALL on the target"
    return ""


def _left_anti_join(root: exp.Expr, mirrors: frozenset[str]) -> str:
    for select in root.find_all(exp.Select):
        aliases = set()
        for join in select.args.get("joins") or ():
            if _reads(join, mirrors):
                if str(join.args.get("kind") or "").upper() == "ANTI":
                    return "an anti-join on the target"
                aliases.add(join.alias_or_name.lower())
        where = select.args.get("where")
        if aliases and where is not None:
            for test in where.find_all(exp.Is):
                column = test.this
                if isinstance(column, exp.Column) and (
                    not column.table or column.table.lower() in aliases
                ):
                    return "an anti-join on the target"
    return ""


def _except(root: exp.Expr, mirrors: frozenset[str]) -> str:
    for node in root.find_all(exp.Except):
        if _reads(node.expression, mirrors):
            return "EXCEPT on the target"
    return ""


def _watermark(root: exp.Expr, mirrors: frozenset[str]) -> str:
    """`WHERE x > (SELECT max(x) FROM target)`: the target itself says what it lacks."""
    for comparison in root.find_all(exp.GT, exp.LT):
        if comparison.find(exp.Max) and _reads(comparison, mirrors):
            return "the target's own high-water mark"
    maxima = {
        cte.alias.lower()
        for cte in root.find_all(exp.CTE)
        if cte.this.find(exp.Max) and _reads(cte.this, mirrors)
    }
    if maxima and root.find(exp.GT, exp.LT):
        return "the target's own high-water mark"
    return ""


def one_row_a_key(
    source: exp.Expr | None,
    reduced: Mapping[str, bool],
    keys: frozenset[str] = frozenset(),
    *,
    fuel: int = _FUEL,
) -> bool:
    """Whether the source of a merge shows, in the code, at most one row a key.

    `reduced` tells it of CTEs and of tables made earlier in the same unit. Without `keys` any
    reduction counts.
    """
    if source is None or fuel == 0:
        return True
    if isinstance(source, (exp.Subquery, exp.Paren)):
        return one_row_a_key(source.this, reduced, keys, fuel=fuel - 1)
    if isinstance(source, exp.Values):
        return True
    if isinstance(source, exp.Table):
        return _table_is_reduced(source, reduced)
    if isinstance(source, exp.Select):
        return _select_is_reduced(source, reduced, keys, fuel)
    return not isinstance(source, exp.SetOperation)


def _table_is_reduced(table: exp.Table, reduced: Mapping[str, bool]) -> bool:
    name = table_name(table)
    if not name:
        return True
    return any(known and naming.same_table(name, other) for other, known in reduced.items())


def _select_is_reduced(
    select: exp.Select, reduced: Mapping[str, bool], keys: frozenset[str], fuel: int
) -> bool:
    if select.args.get("qualify") or _distinct(select, keys) or _grouped(select, keys):
        return True
    if select.args.get("from_") is None or _single(select) or _first_of_each(select):
        return True
    order = select.args.get("order")
    if select.args.get("limit") and order is not None and order.find(exp.RowNumber):
        # The first of each, ties included.
        return True
    inner = dict(reduced)
    for cte in select.find_all(exp.CTE):
        if cte.find_ancestor(exp.Select) is select:
            inner[cte.alias.lower()] = one_row_a_key(cte.this, inner, keys, fuel=fuel - 1)
    return one_row_a_key(select.args["from_"].this, inner, keys, fuel=fuel - 1)


def _distinct(select: exp.Select, keys: frozenset[str]) -> bool:
    distinct = select.args.get("distinct")
    if distinct is None:
        return False
    chosen = {one.alias_or_name.lower() for one in select.expressions}
    # DISTINCT over more than the key leaves a key twice as soon as another column changed.
    return bool(distinct.args.get("on")) or not keys or chosen <= keys


def _grouped(select: exp.Select, keys: frozenset[str]) -> bool:
    group = select.args.get("group")
    if group is None:
        return False
    return not keys or len(group.expressions) <= len(keys)


def _single(select: exp.Select) -> bool:
    limit = select.args.get("limit")
    if isinstance(limit, exp.Limit) and isinstance(limit.expression, exp.Literal):
        return limit.expression.name == "1"
    return bool(select.expressions) and all(
        one.find(exp.AggFunc) is not None and one.find(exp.Window) is None
        for one in select.expressions
    )


def _first_of_each(select: exp.Select) -> bool:
    """`WHERE rn = 1` over a numbered subquery or CTE."""
    where = select.args.get("where")
    if where is None:
        return False
    for test in where.find_all(exp.EQ, exp.LTE, exp.LT):
        value = test.expression
        if (
            isinstance(test.this, exp.Column)
            and isinstance(value, exp.Literal)
            and value.name in {"1", "2"}
            and naming.words(test.this.name)
            & {"rn", "row", "rownum", "rank", "rnk", "rk", "num", "seq", "rownumber", "dedup", "r"}
        ):
            return True
    return False
