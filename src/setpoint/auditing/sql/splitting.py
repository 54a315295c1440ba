"""A SQL text cut into statements, so that one that cannot be parsed costs only itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.auditing.sql.dialects import dialect_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlglot.tokenizer_core import Token

MOST_TOKENS = 6_000
"""A longer statement is generated data, not a pipeline; parsing it would take seconds."""
MOST_DEPTH = 60
"""Deeper brackets would exhaust the parser's recursion."""

_STARTS_WITHOUT_SEMICOLON = frozenset(
    [
        "insert",
        "merge",
        "delete",
        "update",
        "truncate",
        "create",
        "drop",
        "exec",
        "declare",
        "print",
        "commit",
        "rollback",
        "begin",
        "if",
        "return",
        "while",
        "go",
        "use",
        "raiserror",
        "end",
    ]
)
_CONTINUES = frozenset(
    [
        "then",
        "not",
        "for",
        "on",
        "after",
        "before",
        "instead",
        "of",
        "or",
        "as",
        "with",
        "explain",
        "analyze",
        "cascade",
        "into",
        "(",
        ",",
        "grant",
        "revoke",
        "to",
        "matched",
        "when",
        "do",
        "no",
    ]
)
_SHORT = frozenset(
    {"drop", "truncate", "use", "print", "exec", "execute", "commit", "go", "set", "declare"}
)
_READS = frozenset({"select", "with", "set", "declare"})
_VERBS = frozenset({"insert", "merge", "delete", "update", "select"})
_BODIES = frozenset({"insert", "merge", "delete", "update", "truncate", "with", "call"})
_MAY_BEGIN = _STARTS_WITHOUT_SEMICOLON | _BODIES
# `end` alone closes a CASE, and any other closes what a `begin` opened.
_BEGINNINGS = re.compile(
    rf"\b(?:{'|'.join(sorted((_MAY_BEGIN | _SHORT | {'begin'}) - {'end'}))})\b"
)
_RUNNERS = frozenset({"task", "procedure", "proc", "function", "event"})
_BLOCK_WORDS = frozenset(["begin", "then", "else", "loop", "do", "declare", "go", "end"])
_CLOCK_WORDS = frozenset(
    [
        "current_date",
        "current_timestamp",
        "current_time",
        "current_datetime",
        "localtimestamp",
        "localtime",
        "sysdate",
        "systimestamp",
        "utc_date",
        "utc_timestamp",
    ]
)
_REPLACE = re.compile(r"(?im)^(\s*)replace(\s+into\b)")
_DOLLAR = re.compile(r"\$(\w*)\$(.*?)\$\1\$", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement's tokens and where it stands in the whole text."""

    head: str
    """Its first word, lower case."""
    tokens: Sequence[Token]
    start: int
    end: int
    conditional: str = ""
    """The condition of the `IF` that it stands under, lower case."""


def open_bodies(text: str) -> str:
    """The text with procedure bodies unquoted and `REPLACE INTO` read as an insert.

    Length-preserving: offsets and lines stay true.
    """
    if "replace" in text.lower():
        text = _REPLACE.sub(r"\1insert \2", text)
    if "$" not in text:
        return text

    def blank(match: re.Match[str]) -> str:
        body = match.group(2)
        if not re.search(r"\b(?:insert|merge|update|delete|truncate)\b", body, re.IGNORECASE):
            return match.group(0)
        edge = len(match.group(1)) + 2
        return ";" + " " * (edge - 1) + body + ";" + " " * (edge - 1)

    return _DOLLAR.sub(blank, text)


def tokenize(text: str, dialect: str) -> list[Token]:
    """The tokens of the text in a dialect, clock keywords made names that keep a place.

    Raises:
        sqlglot.errors.SqlglotError: When the text cannot even be cut into words.
    """
    from sqlglot.tokenizer_core import Token, TokenType

    tokens = dialect_named(dialect).tokenize(text)
    if any(sign in text for sign in ("+=", "-=", "*=")):
        tokens = _spelled_out(tokens)
    lowered = text.lower()
    if not any(word in lowered for word in _CLOCK_WORDS):
        return tokens
    for at, token in enumerate(tokens):
        if token.token_type is TokenType.VAR or token.text.lower() not in _CLOCK_WORDS:
            continue
        if at + 1 < len(tokens) and tokens[at + 1].token_type is TokenType.L_PAREN:
            continue
        tokens[at] = Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end)
    return tokens


def _spelled_out(tokens: Sequence[Token]) -> list[Token]:
    """`a += b` as `a = a + b`, which every dialect's parser knows."""
    from sqlglot.tokenizer_core import TokenType

    signs = (TokenType.PLUS, TokenType.DASH, TokenType.STAR)
    made: list[Token] = []
    for at, token in enumerate(tokens):
        sign = tokens[at - 1] if at > 1 else token
        joined = sign.token_type in signs and sign.end + 1 == token.start
        if token.token_type is TokenType.EQ and joined:
            made[-1:] = [token, tokens[at - 2], sign]
        else:
            made.append(token)
    return made


def split_statements(tokens: Sequence[Token], text: str) -> Iterator[Statement]:
    """The statements, cut at semicolons, batch separators, and where a new one plainly begins."""
    from sqlglot.tokenizer_core import TokenType

    # Members looked up once: a token's name would be a call a token.
    opening, closing, end = TokenType.L_PAREN, TokenType.R_PAREN, TokenType.SEMICOLON
    condition = _Condition()
    if _is_one(text):
        whole = [token for token in tokens if token.token_type is not end]
        yield from _finish(whole, text, condition, closed=True)
        return
    pending: list[Token] = []
    depth = 0
    for at, token in enumerate(tokens):
        kind = token.token_type
        if kind is opening:
            depth += 1
        elif kind is closing:
            depth = max(0, depth - 1)
        elif kind is end:
            yield from _finish(pending, text, condition, closed=True)
            pending, depth = [], 0
            continue
        if (
            depth == 0
            and pending
            and token.text.lower() in _MAY_BEGIN
            and _begins_anew(token, tokens, at, pending, text)
        ):
            yield from _finish(pending, text, condition, closed=False)
            pending = []
        pending.append(token)
    yield from _finish(pending, text, condition, closed=True)


def _is_one(text: str) -> bool:
    """Whether a text is plainly one statement, as SQL in a string mostly is."""
    stripped = text.strip().rstrip(";").lower()
    return ";" not in stripped and len(_BEGINNINGS.findall(stripped)) <= 1


class _Condition:
    """The `IF` that the next statement, or the next block, stands under."""

    def __init__(self) -> None:
        self.text = ""
        self.block = False

    def spend(self) -> str:
        """The condition for one statement; it lasts to the end of a block."""
        text = self.text
        if not self.block:
            self.text = ""
        return text

    def end(self) -> None:
        self.text, self.block = "", False


def _begins_anew(
    token: Token, tokens: Sequence[Token], at: int, pending: Sequence[Token], text: str
) -> bool:
    word = token.text.lower()
    previous = tokens[at - 1].text.lower()
    head = pending[0].text.lower()
    if word in _BODIES and previous in {"as", "do"} and head == "create" and _runs_later(pending):
        return True
    if head in _SHORT and word in _READS and _first_on_line(token, text):
        return previous not in _CONTINUES
    if word not in _STARTS_WITHOUT_SEMICOLON or previous in _CONTINUES:
        return False
    if head == "with" and not any(one.text.lower() in _VERBS for one in _flat(pending)):
        # The statement that the common table expressions are for.
        return False
    if head == "create" and not _has_body(pending):
        return word in {"insert", "go"} and _first_on_line(token, text)
    if word == "end" and any(one.text.lower() == "case" for one in pending):
        return False
    if previous in {"begin", "else", "go"} or (head == "if" and word != "end"):
        return True
    return _first_on_line(token, text)


def _flat(pending: Sequence[Token]) -> Iterator[Token]:
    """The tokens outside of any bracket."""
    depth = 0
    for token in pending:
        kind = token.token_type.name
        depth += (kind == "L_PAREN") - (kind == "R_PAREN")
        if depth == 0:
            yield token


def _runs_later(pending: Sequence[Token]) -> bool:
    """Whether the CREATE makes something that runs its body: a task, a procedure, an event."""
    return any(one.text.lower() in _RUNNERS for one in pending[1:6])


def _has_body(pending: Sequence[Token]) -> bool:
    return any(one.text.lower() in {"as", "begin", "is"} for one in pending[2:])


def _first_on_line(token: Token, text: str) -> bool:
    begin = text.rfind("\n", 0, token.start) + 1
    return not text[begin : token.start].strip()


def _finish(
    pending: list[Token], text: str, condition: _Condition, *, closed: bool
) -> Iterator[Statement]:
    while pending and not (closed and _is_transaction(pending)):
        word = pending[0].text.lower()
        if word == "if":
            cut = _after_condition(pending)
            condition.text = text[pending[0].start : pending[cut - 1].end + 1].lower()
            condition.block = False
            del pending[:cut]
        elif word in _BLOCK_WORDS and not _is_named_transaction(pending):
            condition.block = condition.block or (
                word in {"begin", "then"} and bool(condition.text)
            )
            if word in {"end", "else"}:
                condition.end()
            del pending[0]
        else:
            break
    if not pending:
        return
    yield Statement(
        head=pending[0].text.lower(),
        tokens=tuple(pending),
        start=pending[0].start,
        end=pending[-1].end + 1,
        conditional=condition.spend(),
    )


def _is_transaction(pending: Sequence[Token]) -> bool:
    """`BEGIN;` opens a transaction and `END;` may close it; before a statement it is a block."""
    return len(pending) == 1 and pending[0].text.lower() in {"begin", "end"}


def _is_named_transaction(pending: Sequence[Token]) -> bool:
    return (
        len(pending) > 1
        and pending[0].text.lower() == "begin"
        and pending[1].text.lower() in {"tran", "transaction", "work"}
    )


def _after_condition(pending: Sequence[Token]) -> int:
    """Where the statement under an `IF …` begins."""
    depth = 0
    for at, token in enumerate(pending):
        kind = token.token_type.name
        depth += (kind == "L_PAREN") - (kind == "R_PAREN")
        if at and depth == 0 and token.text.lower() in _STARTS_WITHOUT_SEMICOLON | {"then"}:
            return at
    return len(pending)
