"""A SQL text → its writes, hidden inputs and reads, statement by statement."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import Draw, How, Source, Spot, Write
from setpoint.auditing.finding import Unparsed
from setpoint.auditing.sql.dialects import Tries, dialect_named
from setpoint.auditing.sql.lines import Lines
from setpoint.auditing.sql.lower_case import LowerCasePattern
from setpoint.auditing.sql.roles import settled_role
from setpoint.auditing.sql.splitting import (
    MOST_DEPTH,
    MOST_TOKENS,
    Statement,
    open_bodies,
    split_statements,
    tokenize,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

    from setpoint.auditing.sql.writes import Memory

WRITES = LowerCasePattern(
    r"\b(?:insert|merge|update|delete|truncate|replace\s+into|copy|load\s+data"
    r"|create\s+(?:or\s+replace\s+)?"
    r"(?:\w+\s+){0,3}table|select\b.{0,2000}?\binto)\b",
    ("insert", "into", "table", "merge", "update", "delete", "truncate", "copy", "load"),
)
"""A text without any of these words changes no table."""

_READ_HEADS = frozenset(
    [
        "insert",
        "merge",
        "update",
        "delete",
        "truncate",
        "drop",
        "create",
        "copy",
        "load",
        "replace",
        "with",
        "select",
    ]
)
_BEGIN = re.compile(
    r"^\s*(?:begin(?:\s+(?:tran|transaction|work))?|start\s+transaction)\s*;?\s*$", re.IGNORECASE
)
_LOAD_INFILE = re.compile(
    r"load\s+data\s+(?:\w+\s+)*infile\s+.*?\b(?P<mode>replace\s+"
    r"|ignore\s+)?into\s+table\s+(?P<table>[\w.`]+)",
    re.IGNORECASE | re.DOTALL,
)
_SNAPSHOT = re.compile(
    r"create\s+snapshot\s+table\s+(?P<lenient>if\s+not\s+exists\s+)?(?P<table>[\w.`-]+)"
    r"\s+clone\s+(?P<source>[\w.`-]+)",
    re.IGNORECASE,
)
"""BigQuery's, which the parser does not know."""
_VARIABLE = re.compile(
    r"(?:declare\s+|set\s+)?@?(?P<name>[A-Za-z_]\w*)\s*(?:[\w() ,]*?)\s*(?::=|=|\bdefault\b)"
    r"\s*(?P<value>.*)",
    re.IGNORECASE | re.DOTALL,
)
CLOCK_TEXT = re.compile(
    r"\b(?:current_?date|current_?timestamp|current_?datetime|now|getdate|getutcdate|sysdate|today"
    r"|sysdatetime|sysutcdatetime|sysdatetimeoffset|curdate|localtimestamp|clock_timestamp)\b",
    re.IGNORECASE,
)
_CREATED = re.compile(
    r"create\s+(?:or\s+replace\s+)?(?P<temporary>(?:global\s+|local\s+)?temp(?:orary)?\s+"
    r"|volatile\s+)?"
    r"(?P<kind>table|stream|view)\s+(?:if\s+not\s+exists\s+)?(?P<name>[\w.`\"\[\]#]+)",
    re.IGNORECASE,
)
_OTHER_CREATE = re.compile(
    r"create\s+(?:or\s+replace\s+)?(?:\w+\s+)?(?:stream|task|stage|pipe|file\s+format|warehouse"
    r"|role|"
    r"user|sequence|index|schema|database|extension|type|domain|trigger|policy|tag|alert|function|"
    r"procedure|proc|event|login|job|publication|subscription|rule|server|materialized\s+view)\b",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"create\s+(?:or\s+\w+\s+)?(?:definer\s*=\s*\S+\s+)?(?:procedure|proc|event|task)\b",
    re.IGNORECASE,
)
_PEAK = re.compile(r"\bmax\s*\(", re.IGNORECASE)
_PEAK_INTO = re.compile(r"\binto\s+(?:strict\s+)?([@:]?\w+)", re.IGNORECASE)
_PEAK_SET = re.compile(
    r"(?:select\s+(?P<chosen>@\w+)\s*=|(?:(?:declare|set|let)\s+)?(?P<set>[@:]?\w+)\b[^=;]{0,60}?"
    r"(?::=|=|\bdefault\b)\s*\(\s*select\b)",
    re.IGNORECASE,
)
_FROM = re.compile(r"\bfrom\s+([\w.\"`\[\]]+)", re.IGNORECASE)
_MOST_PEAK = 1_500
_UNQUOTED = str.maketrans("", "", '"`[]')
_PLSQL_TRANSACTION = re.compile(r"language\s+'?plpgsql", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class HoleUse:
    """Where a Python value ended up in a SQL text."""

    hole: int
    role: str
    column: str
    table: str
    how: How | None


@dataclass(frozen=True, kw_only=True)
class SqlFacts:
    """What a SQL text does."""

    writes: tuple[Write, ...] = ()
    draws: tuple[Draw, ...] = ()
    reads: tuple[str, ...] = ()
    holes: tuple[HoleUse, ...] = ()
    unparsed: tuple[Unparsed, ...] = ()
    dialect: str = ""


def read_sql(
    text: str,
    *,
    hint: str = "",
    path: str = "",
    first_line: int = 1,
    selects: bool = False,
    memory: Memory | None = None,
) -> SqlFacts:
    """Read a SQL text.

    `selects` says that a bare SELECT is a model whose rows are written; `memory` carries what
    earlier texts of the same unit established.
    """
    from sqlglot.errors import SqlglotError

    from setpoint.auditing.sql.writes import Memory as NewMemory

    opened = open_bodies(text)
    dialects = Tries(text, hint)
    lines = Lines(text, first_line)
    for dialect in dialects:
        try:
            tokens = tokenize(opened, dialect)
        except (SqlglotError, ValueError, IndexError):
            continue
        reader = _Reader(
            text=opened,
            original=text,
            path=path,
            lines=lines,
            first=dialect,
            dialects=dialects,
            selects=selects,
            memory=memory if memory is not None else NewMemory(),
        )
        return reader.read(tokens)
    reason = "no dialect could cut this text into words"
    return SqlFacts(unparsed=(Unparsed(path=path, line=first_line, reason=reason),))


class _Reader:
    """Goes through the statements of one text in order."""

    def __init__(
        self,
        *,
        text: str,
        original: str,
        path: str,
        lines: Lines,
        first: str,
        dialects: Iterable[str],
        selects: bool,
        memory: Memory,
    ) -> None:
        self._text = text
        self._original = original
        self._path = path
        self._lines = lines
        self._first = first
        self._dialects = dialects
        self._selects = selects
        self._memory = memory
        self._writes: list[Write] = []
        self._draws: list[Draw] = []
        self._reads: dict[str, None] = {}
        self._holes: list[HoleUse] = []
        self._unparsed: list[Unparsed] = []
        self._transaction = 0
        self._opened = 0
        if _PLSQL_TRANSACTION.search(text):
            self._transaction = self._opened = 1

    def read(self, tokens: Sequence[Token]) -> SqlFacts:
        """All statements of the text."""
        for statement in split_statements(tokens, self._text):
            self._follow_transaction(statement)
            self._follow_variables(statement)
            self._follow_body(statement)
            if statement.head in _READ_HEADS and self._is_wanted(statement):
                self._read_statement(statement)
        return SqlFacts(
            writes=tuple(self._writes),
            draws=tuple(self._draws),
            reads=tuple(self._reads),
            holes=tuple(self._holes),
            unparsed=tuple(self._unparsed),
            dialect=self._first,
        )

    def _follow_transaction(self, statement: Statement) -> None:
        text = self._text[statement.start : statement.end]
        if statement.head in {"begin", "start"} and _BEGIN.match(text[:60]):
            self._opened += 1
            self._transaction = self._opened
        elif statement.head in {"commit", "rollback", "end"} and not _PLSQL_TRANSACTION.search(
            self._text
        ):
            self._transaction = 0

    def _follow_peak(self, text: str) -> None:
        """Remember a variable that takes the highest value of a table's column."""
        peak = _PEAK.search(text) if "max" in text.lower() else None
        source = _FROM.search(text, peak.end()) if peak is not None else None
        if peak is None or source is None:
            return
        into = _PEAK_INTO.search(text, peak.end(), source.start())
        given = _PEAK_SET.match(text)
        name = into.group(1) if into else (given["chosen"] or given["set"]) if given else ""
        if name:
            self._memory.marks[name.lstrip("@:").lower()] = (
                source.group(1).translate(_UNQUOTED).lower()
            )

    def _follow_body(self, statement: Statement) -> None:
        """What a procedure does later finds the tables that this script made once."""
        text = self._text[statement.start : statement.start + 200]
        if statement.head == "create" and _LATER.match(text):
            self._writes = [
                replace(one, guard="") if one.how is How.CREATE and not one.temporary else one
                for one in self._writes
            ]

    def _follow_variables(self, statement: Statement) -> None:
        """Remember variables that take a clock's value, temporary tables and change streams."""
        text = self._text[statement.start : statement.end]
        self._follow_peak(text[:_MOST_PEAK])
        if statement.head not in _READ_HEADS or statement.head == "with":
            match = _VARIABLE.match(text[:400])
            if match is not None:
                name = match["name"].lower()
                if CLOCK_TEXT.search(match["value"]):
                    self._memory.clocks[name] = statement.start
                else:
                    self._memory.clocks.pop(name, None)
        elif statement.head == "create":
            made = _CREATED.match(text[:300])
            if made is not None and made["temporary"]:
                self._memory.temporary.add(made["name"].strip('"`[]').lower())
            elif made is not None and made["kind"].lower() == "stream":
                self._memory.streams.add(made["name"].lower())

    def _is_wanted(self, statement: Statement) -> bool:
        text = self._text[statement.start : statement.end]
        if statement.head == "create" and _OTHER_CREATE.match(text[:200]):
            return False
        if statement.head not in {"select", "with"} or self._selects:
            return True
        return WRITES.search(text) is not None

    def _read_statement(self, statement: Statement) -> None:
        text = self._text[statement.start : statement.end]
        spot = self._lines.spot(statement.start, statement.end)
        if len(statement.tokens) > MOST_TOKENS or _depth(statement.tokens, text) > MOST_DEPTH:
            self._too_large(statement, spot)
            return
        infile = _LOAD_INFILE.match(text)
        if infile is not None:
            how = How.UPSERT if infile["mode"] else How.APPEND
            table = infile["table"].replace("`", "").lower()
            self._keep(
                Write(
                    how=how, table=table, spot=spot, dialect="mysql", rows="files", exact=text[:400]
                )
            )
            return
        snapshot = _SNAPSHOT.match(text)
        if snapshot is not None:
            self._take_snapshot(snapshot, spot)
            return
        root, dialect = self._parse(statement)
        if root is None:
            self._unparsed.append(
                Unparsed(
                    path=self._path,
                    line=spot.line,
                    reason=f"cannot parse this {statement.head.upper()} statement",
                )
            )
            return
        self._take(root, dialect, statement, spot)

    def _take_snapshot(self, snapshot: re.Match[str], spot: Spot) -> None:
        """A table that is made once as a copy; a second run fails or does nothing."""
        table, source = (snapshot[name].replace("`", "").lower() for name in ("table", "source"))
        self._reads.setdefault(source)
        guard = "" if snapshot["lenient"] else "created here"
        self._keep(Write(how=How.CREATE, table=table, spot=spot, dialect="bigquery", guard=guard))

    def _too_large(self, statement: Statement, spot: Spot) -> None:
        if any(token.text.lower() == "values" for token in statement.tokens[:400]):
            return
        reason = f"this statement is too large to judge ({len(statement.tokens):,} words)"
        self._unparsed.append(Unparsed(path=self._path, line=spot.line, reason=reason))

    def _parse(self, statement: Statement) -> tuple[exp.Expr | None, str]:
        from sqlglot import exp
        from sqlglot.errors import SqlglotError

        from setpoint.auditing.sql.folding import folded
        from setpoint.auditing.sql.inputs import HIDING_PIECES

        text = self._text[statement.start : statement.end]
        hiding = (*HIDING_PIECES, *self._memory.clocks)
        tokens = folded(statement.tokens, text, statement.start, hiding)
        others = (name for name in self._dialects if name != self._first)
        for dialect in chain([self._first], others):
            parser = dialect_named(dialect).parser()
            try:
                roots = parser.parse(list(tokens), self._text)
            except (
                SqlglotError,
                RecursionError,
                ValueError,
                AttributeError,
                TypeError,
                IndexError,
                KeyError,
            ):
                continue
            if len(roots) == 1 and roots[0] is not None and not isinstance(roots[0], exp.Command):
                return roots[0], dialect
        return None, ""

    def _take(self, root: exp.Expr, dialect: str, statement: Statement, spot: Spot) -> None:
        from sqlglot import exp

        from setpoint.auditing.sql.guards import table_name
        from setpoint.auditing.sql.inputs import may_hide
        from setpoint.auditing.sql.writes import write_of

        text = self._original[statement.start : statement.end]
        write = write_of(root, spot, dialect, self._memory, text)
        self._remember_reads(root, write)
        if write is not None:
            self._keep(self._conditioned(write, statement))
        elif not (self._selects and isinstance(root, exp.Query)):
            return
        if not self._memory.clocks and not may_hide(text):
            return
        table = write.table if write is not None else table_name(root.args.get("this"))
        self._inputs(root, write, table, dialect, _written_clock(text))

    def _conditioned(self, write: Write, statement: Statement) -> Write:
        condition = statement.conditional
        if write.how is How.APPEND and not write.guard and self._is_marked(write, statement):
            return replace(write, guard="the target's own high-water mark")
        last = write.table.rsplit(".", 1)[-1]
        if not condition or not last or last not in condition:
            return write
        if write.how is How.APPEND and ("not exists" in condition or "= 0" in condition):
            return replace(write, guard="IF NOT EXISTS on the target")
        return write

    def _is_marked(self, write: Write, statement: Statement) -> bool:
        """Whether only rows beyond the highest that the target holds are taken."""
        text = self._text[statement.start : statement.end]
        return any(
            naming.same_table(table, write.table)
            and re.search(rf"(?i)>\s*[@:]?{re.escape(name)}\b", text)
            for name, table in self._memory.marks.items()
        )

    def _keep(self, write: Write) -> None:
        if write.serial_start >= 0:
            spot = self._lines.spot(write.serial_start, write.serial_start + len(write.serial))
            write = replace(write, serial_spot=spot)
        if self._transaction:
            write = replace(write, transaction=self._transaction)
        self._writes.append(write)

    def _remember_reads(self, root: exp.Expr, write: Write | None) -> None:
        from sqlglot import exp

        from setpoint.auditing.sql.guards import table_name

        if isinstance(root, exp.Create) and root.args.get("kind") not in {"TABLE", "VIEW"}:
            return
        found = list(root.find_all(exp.CTE, exp.Table))
        named = {one.alias.lower() for one in found if isinstance(one, exp.CTE)}
        for table in found:
            name = table_name(table)
            if name and name not in named and (write is None or name != write.table):
                self._reads.setdefault(name)

    def _inputs(
        self,
        root: exp.Expr,
        write: Write | None,
        table: str,
        dialect: str,
        clock: str,
    ) -> None:
        from setpoint.auditing.sql.inputs import inputs_of

        how = write.how if write is not None else None
        columns = write.columns if write is not None else ()
        for one in inputs_of(root, columns, self._memory.clocks):
            role = settled_role(one, write)
            if one.hole >= 0:
                self._holes.append(
                    HoleUse(hole=one.hole, role=role, column=one.column, table=table, how=how)
                )
            elif one.source is not None:
                self._draws.append(
                    Draw(
                        source=one.source,
                        role=role,
                        spot=self._lines.spot(one.start, one.start + len(one.text)),
                        text=clock if clock and one.source is Source.CLOCK else one.text,
                        column=one.column.lower(),
                        table=table,
                        dialect=dialect,
                    )
                )


def _written_clock(text: str) -> str:
    """The statement's clock as its author wrote it; empty when there are several to mix up."""
    found = {match.group(0): match.end() for match in CLOCK_TEXT.finditer(text)}
    if len({name.lower() for name in found}) != 1:
        return ""
    ((name, end), *_) = found.items()
    return f"{name}()" if text[end : end + 1] == "(" else name


def _depth(tokens: Sequence[Token], text: str) -> int:
    brackets = text.count("(")
    if brackets <= MOST_DEPTH:
        return brackets
    from sqlglot.tokenizer_core import TokenType

    opening, closing = TokenType.L_PAREN, TokenType.R_PAREN
    depth = most = 0
    for token in tokens:
        kind = token.token_type
        if kind is opening:
            depth += 1
            most = max(most, depth)
        elif kind is closing:
            depth -= 1
    return most
