"""One parsed statement → the write that it is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from setpoint.auditing import naming
from setpoint.auditing.facts import How, Spot, Write
from setpoint.auditing.sql.grains import grain_of
from setpoint.auditing.sql.guards import insert_guard, one_row_a_key, spelled_sql, table_name
from setpoint.auditing.sql.inputs import source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PLACEHOLDERS = (exp.Placeholder, exp.Parameter, exp.SessionParameter)
_HOLE_OR_ARGUMENT = re.compile(r"__h\d+__|__j\d+_*")


@dataclass(kw_only=True)
class Memory:
    """What earlier statements of the same unit established."""

    reduced: dict[str, bool] = field(default_factory=dict)
    """Tables made in this unit, and whether they hold one row a key."""
    temporary: set[str] = field(default_factory=set)
    streams: set[str] = field(default_factory=set)
    """Change streams, which hand out each row once."""
    clocks: dict[str, int] = field(default_factory=dict)
    """Variables that were set from a clock, and where."""
    marks: dict[str, str] = field(default_factory=dict)
    """Variables that hold the highest value of a column, and the table it was read from."""

    def state(self) -> object:
        """All of it, to be compared: a text that is read with the same does the same."""
        return (
            tuple(self.reduced.items()),
            frozenset(self.temporary),
            frozenset(self.streams),
            tuple(self.clocks.items()),
            tuple(self.marks.items()),
        )


def write_of(root: exp.Expr, spot: Spot, dialect: str, memory: Memory, text: str) -> Write | None:
    """The write that a statement is, or None for a mere read or setting."""
    reader = _READERS.get(type(root))
    if reader is None:
        return None
    blank = Write(how=How.APPEND, table="", spot=spot, dialect=dialect, exact=_short(text))
    write = reader(root, blank, memory)
    if write is None:
        return None
    temporary = write.temporary or _is_temporary(write.table, memory)
    return write if temporary is write.temporary else replace(write, temporary=temporary)


def _short(text: str) -> str:
    return " ".join(text[:1200].split())[:400]


def _is_temporary(table: str, memory: Memory) -> bool:
    return naming.is_temporary_table(table) or any(
        naming.same_table(table, known) for known in memory.temporary
    )


def _insert(root: exp.Expr, blank: Write, memory: Memory) -> Write | None:
    if not isinstance(root, exp.Insert):
        return None
    target = root.this
    if isinstance(target, exp.Directory):
        return None
    table = table_name(target)
    into = target.this if isinstance(target, exp.Schema) else target
    columns = (
        tuple(one.name.lower() for one in target.expressions)
        if isinstance(target, exp.Schema)
        else ()
    )
    partition = _partition_of(target)
    tables = [one for one in root.find_all(exp.Table) if one is not into]
    # Complete for an append, which most inserts are: making a write costs more than it looks.
    made = replace(
        blank,
        how=How.APPEND,
        table=table,
        columns=columns,
        rows=_rows_of(root.expression),
        source_filter=_filters(root.expression),
        guard=insert_guard(root, table, tables) or _stream_guard(tables, memory),
        scope=spelled_sql(partition).lower() if partition is not None else "",
    )
    if blank.exact[:7].lower() == "replace":
        return replace(made, how=How.UPSERT, guard="", scope="")
    if root.args.get("overwrite"):
        return _overwrite(replace(made, guard="", scope=""), partition)
    conflict = root.args.get("conflict")
    if isinstance(conflict, exp.OnConflict):
        return _upsert(root, conflict, replace(made, guard="", scope=""))
    if root.args.get("where") is not None:
        # Delta's INSERT INTO … REPLACE WHERE sets a scope.
        return replace(made, how=How.OVERWRITE, guard="", scope="")
    return made


def _filters(query: exp.Expr | None) -> str:
    if not isinstance(query, exp.Query):
        return ""
    return " ".join(spelled_sql(where.this).lower() for where in query.find_all(exp.Where))[:600]


def _stream_guard(tables: Sequence[exp.Table], memory: Memory) -> str:
    for table in tables:
        name = table_name(table)
        if name in memory.streams or name.endswith(("_stream", "_strm")):
            return "a change stream, which hands out each row once"
    return ""


def _partition_of(target: exp.Expr | None) -> exp.Expr | None:
    inner = target.this if isinstance(target, exp.Schema) else target
    found = inner.args.get("partition") if isinstance(inner, exp.Expr) else None
    return found if isinstance(found, exp.Expr) else None


def _overwrite(blank: Write, partition: exp.Expr | None) -> Write:
    if partition is None:
        return replace(blank, how=How.OVERWRITE)
    static = [one for one in partition.expressions if isinstance(one, exp.EQ)]
    names = tuple(
        (one.this.name if isinstance(one, exp.EQ) else one.name).lower()
        for one in partition.expressions
    )
    text = spelled_sql(partition).lower()
    return replace(
        blank,
        how=How.OVERWRITE if static and len(static) == len(names) else How.DYNAMIC,
        scope=text,
        scope_columns=names,
        grain=grain_of(text),
    )


def _rows_of(query: exp.Expr | None) -> str:
    if isinstance(query, exp.Values):
        return "parameters" if _has_parameters(query) else "literals"
    if isinstance(query, exp.Select) and query.args.get("from_") is None:
        return "parameters" if _has_parameters(query) else "literals"
    if query is None:
        return "literals"
    return "select"


def _has_parameters(node: exp.Expr) -> bool:
    if node.find(*_PLACEHOLDERS) is not None:
        return True
    return any(
        _HOLE_OR_ARGUMENT.search(one.name) for one in node.find_all(exp.Literal, exp.Identifier)
    )


def _upsert(root: exp.Insert, conflict: exp.OnConflict, blank: Write) -> Write:
    keys = tuple(
        one.name.lower()
        for one in conflict.args.get("conflict_keys") or ()
        if isinstance(one, exp.Expr)
    )
    sets = [one for one in conflict.expressions if isinstance(one, exp.EQ)]
    counter = _counter(sets, foreign={"excluded", "new", "values"})
    del root
    looked_up = not sets and all(key in {"name", "title", "label"} for key in keys)
    return replace(
        blank,
        how=How.UPSERT,
        keys=keys,
        # The names of a lookup table are its entries; a name that changes is another entry.
        key_problem="" if looked_up else key_problem(keys),
        counter=counter,
    )


def key_problem(keys: tuple[str, ...]) -> str:
    """Why these columns make no lasting key, in words; empty when nothing speaks against them."""
    stamped = [key for key in keys if naming.is_write_stamp(key)]
    if stamped:
        return f"{stamped[0]} is the moment of the load: no two runs give the same key"
    if keys and not any(naming.is_stable(key) and not naming.is_mutable(key) for key in keys):
        mutable = [key for key in keys if naming.is_mutable(key)]
        if mutable:
            return f"{mutable[0]} may change, and then the same entity is inserted again"
    return ""


def _merge(root: exp.Expr, blank: Write, memory: Memory) -> Write | None:
    if not isinstance(root, exp.Merge):
        return None
    target = root.this
    source = root.args.get("using")
    aliases = {target.alias_or_name.lower(), table_name(target).rsplit(".", 1)[-1]}
    other = source.alias_or_name.lower() if isinstance(source, exp.Expr) else ""
    condition = root.args.get("on") or root.args.get("using_cond")
    keys = _merge_keys(condition, aliases, other)
    actions = _merge_actions(root)
    reduced = dict(memory.reduced)
    known = frozenset(keys)
    for cte in root.find_all(exp.CTE):
        reduced[cte.alias.lower()] = one_row_a_key(cte.this, reduced, known)
    if _is_single_row(source):
        # One row of parameters: an application's upsert.
        keys = ()
    return replace(
        blank,
        how=How.MERGE,
        table=table_name(target),
        keys=keys,
        key_problem=_merge_problem(condition, keys, root, actions),
        reduced=one_row_a_key(source, reduced, known) or _replaces(root),
        counter=_counter(actions, foreign={other} - aliases),
    )


def _is_single_row(source: object) -> bool:
    inner = source.this if isinstance(source, exp.Subquery) else source
    return isinstance(inner, exp.Select) and inner.args.get("from_") is None


def _merge_keys(condition: object, aliases: set[str], other: str) -> tuple[str, ...]:
    if not isinstance(condition, exp.Expr):
        return ()
    keys: dict[str, None] = {}
    for test in [condition, *condition.find_all(exp.EQ, exp.NullSafeEQ)]:
        if not isinstance(test, (exp.EQ, exp.NullSafeEQ)):
            continue
        sides = [one for side in (test.this, test.expression) for one in side.find_all(exp.Column)]
        if len({one.table.lower() for one in sides}) < 2:  # noqa: PLR2004 - both sides of a join
            continue
        for column in sides:
            if column.table.lower() in aliases or column.table.lower() != other:
                keys.setdefault(column.name.lower())
    return tuple(keys)


def _merge_actions(root: exp.Merge) -> list[exp.Expr]:
    whens = root.args.get("whens")
    found: list[exp.Expr] = []
    for update in whens.find_all(exp.Update) if isinstance(whens, exp.Expr) else ():
        found += [one for one in update.expressions if isinstance(one, exp.EQ)]
    return found


def _merge_problem(
    condition: object, keys: tuple[str, ...], root: exp.Merge, actions: Sequence[exp.Expr]
) -> str:
    if not isinstance(condition, exp.Expr):
        return ""
    if any(str(source_of(one) or "") for one in condition.walk()):
        return "the key holds a clock or a random value"
    if not keys and condition.find(exp.Column) is None:
        if _replaces(root):
            return ""
        del actions
        return "ON compares no column: every source row meets every target row, or none"
    return key_problem(keys)


def _replaces(root: exp.Merge) -> bool:
    """`ON FALSE … WHEN NOT MATCHED BY SOURCE … DELETE` is an atomic replacement of a scope."""
    return any(
        when.args.get("source") and when.args["then"].name.upper() == "DELETE"
        for when in root.find_all(exp.When)
    )


def _update(root: exp.Expr, blank: Write, memory: Memory) -> Write | None:
    del memory
    if not isinstance(root, exp.Update):
        return None
    sets = [one for one in root.expressions if isinstance(one, exp.EQ)]
    foreign = {
        one.alias_or_name.lower()
        for part in ("from_", "with_")
        if isinstance(root.args.get(part), exp.Expr)
        for one in root.args[part].find_all(exp.Table)
    } - {root.this.alias_or_name.lower()}
    where = root.args.get("where")
    marker = _state_marker(sets, where)
    return replace(
        blank,
        how=How.UPDATE,
        table=table_name(root.this),
        counter=_counter(sets, foreign=foreign),
        guard="a state marker that the same statement sets" if marker else "",
        rows="parameters" if _has_parameters(root) else "select",
    )


def _state_marker(sets: Sequence[exp.Expr], where: object) -> bool:
    if not isinstance(where, exp.Expr):
        return False
    tested = {column.name.lower() for column in where.find_all(exp.Column)}
    for one in sets:
        name = one.this.name.lower()
        own = any(column.name.lower() == name for column in one.expression.find_all(exp.Column))
        if name in tested and not own:
            return True
    return False


def _counter(sets: Sequence[exp.Expr], foreign: set[str]) -> str:
    for one in sets:
        name = str(one.this.name).lower()
        if naming.is_attempt_counter(name):
            continue
        for sum_ in one.expression.find_all(exp.Add, exp.Sub, exp.Mul):
            for column in sum_.find_all(exp.Column):
                if column.name.lower() == name and column.table.lower() not in foreign:
                    return name
    return ""


def _delete(root: exp.Expr, blank: Write, memory: Memory) -> Write | None:
    del memory
    if not isinstance(root, exp.Delete):
        return None
    where = root.args.get("where")
    table = _table_behind(root)
    return replace(
        blank,
        how=How.DELETE,
        table=table,
        dedupes=_dedupes(root, table),
        scope=_scope_text(where),
        scope_columns=_columns_of(where),
        retention=_is_retention(where),
        grain=grain_of(_scope_text(where)),
    )


def _table_behind(root: exp.Delete) -> str:
    """The table that rows go from, also through a common table expression."""
    table = table_name(root.this)
    for cte in root.find_all(exp.CTE):
        inner = cte.this.args.get("from_") if isinstance(cte.this, exp.Select) else None
        if cte.alias.lower() == table and isinstance(inner, exp.From):
            return table_name(inner.this) or table
    return table


def _dedupes(root: exp.Delete, table: str) -> bool:
    """Whether the delete compares the table with itself: it removes what is there twice."""
    parts = [root.args.get("where"), *(root.args.get("using") or ())]
    itself = any(
        table_name(one) == table
        for part in parts
        if isinstance(part, exp.Expr)
        for one in part.find_all(exp.Table)
    )
    return itself or (root.find(exp.RowNumber) is not None and table_name(root.this) != table)


def _scope_text(where: object) -> str:
    return spelled_sql(where.this).lower() if isinstance(where, exp.Where) else ""


def _columns_of(where: object) -> tuple[str, ...]:
    if not isinstance(where, exp.Where):
        return ()
    return tuple(dict.fromkeys(column.name.lower() for column in where.find_all(exp.Column)))


def _is_retention(where: object) -> bool:
    if not isinstance(where, exp.Where):
        return False
    older = where.find(exp.LT, exp.LTE)
    newer = where.find(exp.GT, exp.GTE, exp.EQ, exp.Between)
    clocked = any(source_of(one) is not None for one in where.walk())
    return older is not None and newer is None and clocked


def _truncate(root: exp.Expr, blank: Write, memory: Memory) -> Write | None:
    del memory
    tables = root.expressions
    return replace(blank, how=How.TRUNCATE, table=table_name(tables[0])) if tables else None


def _drop(root: exp.Expr, blank: Write, memory: Memory) -> Write | None:
    del memory
    if str(root.args.get("kind") or "").upper() != "TABLE":
        return None
    tables = root.args.get("tables") or [root.this]
    return replace(blank, how=How.DROP, table=table_name(tables[0]))


def _create(root: exp.Expr, blank: Write, memory: Memory) -> Write | None:
    if not isinstance(root, exp.Create):
        return None
    kind = str(root.args.get("kind") or "").upper()
    table = table_name(root.this)
    query = root.args.get("expression")
    properties = root.args.get("properties")
    temporary = isinstance(properties, exp.Properties) and (
        properties.find(exp.TemporaryProperty) is not None
    )
    if temporary:
        memory.temporary.add(table)
    if isinstance(query, exp.Query) and kind in {"TABLE", "VIEW"}:
        memory.reduced[table] = one_row_a_key(query, memory.reduced)
    if kind != "TABLE":
        return None
    if root.find(exp.PrimaryKeyColumnConstraint, exp.PrimaryKey, exp.UniqueColumnConstraint):
        memory.reduced[table] = True
    serial = _serial(root)
    guard = "created here" if not root.args.get("exists") else ""
    return replace(
        blank,
        how=How.OVERWRITE if root.args.get("replace") else How.CREATE,
        table=table,
        temporary=temporary,
        guard=guard,
        rows="select" if isinstance(query, exp.Query) else "literals",
        scope_columns=_partition_columns(root),
        serial=serial.name.lower() if serial is not None else "",
        serial_start=int(serial.this.meta.get("start", -1)) if serial is not None else -1,
        columns=tuple(one.name.lower() for one in root.this.expressions)
        if isinstance(root.this, exp.Schema)
        else (),
    )


def _partition_columns(root: exp.Create) -> tuple[str, ...]:
    found = [
        column.name.lower()
        for part in root.find_all(exp.PartitionedByProperty)
        for column in part.find_all(exp.Column, exp.Identifier)
    ]
    return tuple(dict.fromkeys(found))


def _serial(root: exp.Create) -> exp.ColumnDef | None:
    for column in root.find_all(exp.ColumnDef):
        kind = column.args.get("kind")
        named = spelled_sql(kind).upper() if isinstance(kind, exp.Expr) else ""
        if "SERIAL" in named or column.find(
            exp.GeneratedAsIdentityColumnConstraint, exp.AutoIncrementColumnConstraint
        ):
            return column
    return None


def _copy(root: exp.Expr, blank: Write, memory: Memory) -> Write | None:
    del memory
    table = table_name(root.this)
    if not root.args.get("kind") or not table:
        return None
    text = blank.exact.lower()
    remembers = text.startswith("copy into")
    forced = re.search(r"force\s*=?\s*'?true", text) is not None
    guard = "the load history of COPY INTO" if remembers and not forced else ""
    return replace(blank, how=How.APPEND, table=table, rows="files", guard=guard)


def _load(root: exp.Expr, blank: Write, memory: Memory) -> Write | None:
    del memory
    how = How.OVERWRITE if root.args.get("overwrite") else How.APPEND
    return replace(blank, how=how, table=table_name(root.this), rows="files")


def _select_into(root: exp.Expr, blank: Write, memory: Memory) -> Write | None:
    into = root.args.get("into")
    if not isinstance(into, exp.Into):
        return None
    table = table_name(into.this)
    memory.reduced[table] = one_row_a_key(root, memory.reduced)
    return replace(blank, how=How.CREATE, table=table, guard="created here")


_READERS: dict[type, Callable[[exp.Expr, Write, Memory], Write | None]] = {
    exp.Insert: _insert,
    exp.Merge: _merge,
    exp.Update: _update,
    exp.Delete: _delete,
    exp.TruncateTable: _truncate,
    exp.Drop: _drop,
    exp.Create: _create,
    exp.Copy: _copy,
    exp.LoadData: _load,
    exp.Select: _select_into,
}
