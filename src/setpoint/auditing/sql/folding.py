"""Columns of a SELECT that decide nothing, folded to their names before the parser sees them.

Most words of a pipeline's SQL compute columns. No rule looks into such a column unless a clock, a
subquery or the like stands in it, so `CASE … END AS tier` may as well be `tier`. Parsing and every
walk over the tree then cost a third.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlglot.tokenizer_core import Token, TokenType

_FEW = 40
"""A statement of fewer words is parsed quicker than folded."""
_SHORT = 4
"""`a AS b` and its like stay as they are."""
_LOOKED_INTO = ("select", "max", "min", "exists", "__h", "__j")
_BOUND = re.compile(r"[?@$]|(?<!:):(?!:)")
"""A value that is bound to the statement; `::` is a cast."""


def folded(
    tokens: Sequence[Token], text: str, offset: int, hiding: Iterable[str]
) -> Sequence[Token]:
    """The tokens without what only computes a column.

    `text` is the statement, which begins at `offset`; `hiding` are lower-case pieces that an
    expression worth reading holds.
    """
    from sqlglot.tokenizer_core import TokenType

    if len(tokens) < _FEW:
        return tokens
    opening, closing, comma = TokenType.L_PAREN, TokenType.R_PAREN, TokenType.COMMA
    select, ends = TokenType.SELECT, (TokenType.FROM, TokenType.WHERE, TokenType.UNION)
    matters = frozenset({opening, closing, comma, select, *ends})
    spots = _spots(text, offset, hiding)
    gone: list[tuple[int, int]] = []
    lists: list[_Columns | None] = [None]
    for at, kind in _of_kinds(tokens, matters):
        inner = lists[-1]
        if kind is opening:
            lists.append(None)
        elif kind is closing:
            _close(lists.pop() if len(lists) > 1 else None, gone)
            if lists[-1] is not None:
                lists[-1].brackets += 1
        elif kind is select:
            lists[-1] = _Columns(at + 1)
        elif inner is not None and kind is comma:
            inner.end_item(tokens, at, spots)
        elif inner is not None:
            _close(inner, gone)
            lists[-1] = None
    for columns in lists:
        _close(columns, gone)
    return _without(tokens, sorted(gone))


def _of_kinds(
    tokens: Sequence[Token], kinds: frozenset[TokenType]
) -> Iterator[tuple[int, TokenType]]:
    for at, token in enumerate(tokens):
        kind = token.token_type
        if kind in kinds:
            yield at, kind


def _without(tokens: Sequence[Token], gone: Iterable[tuple[int, int]]) -> Sequence[Token]:
    kept: list[Token] = []
    at = 0
    for start, end in gone:
        kept += tokens[at:start]
        at = end
    kept += tokens[at:]
    return kept


class _Columns:
    """The columns of one SELECT while its tokens pass by."""

    def __init__(self, first: int) -> None:
        self.brackets = 0
        self._begin = self._first = first
        self._plain = False
        self._items: list[tuple[int, int]] = []

    def end_item(self, tokens: Sequence[Token], at: int, spots: Sequence[int]) -> None:
        """A comma: what came since the last one is a column."""
        self._plain = self._plain or not self.brackets
        # What follows SELECT itself may be TOP 1 or DISTINCT, and those are looked at.
        long = at - self._first >= _SHORT and self._first != self._begin
        if long and _is_foldable(tokens, self._first, at - 1, spots):
            self._items.append((self._first, at - 1))
        self._first, self.brackets = at + 1, 0

    def foldable(self) -> list[tuple[int, int]]:
        """Which tokens may go, so that each foldable column leaves its name.

        Only beside a column without any call: then the SELECT is no single row of aggregates,
        whatever the others compute.
        """
        return self._items if self._plain else []


def _close(columns: _Columns | None, gone: list[tuple[int, int]]) -> None:
    if columns is not None:
        gone += columns.foldable()


def _is_foldable(tokens: Sequence[Token], first: int, last: int, spots: Sequence[int]) -> bool:
    """Whether a column is `… AS name`, and nothing in it is looked into by anyone."""
    from sqlglot.tokenizer_core import TokenType

    if tokens[last - 1].token_type is not TokenType.ALIAS:
        return False
    if tokens[last].token_type is not TokenType.VAR:
        return False
    found = bisect_left(spots, tokens[first].start)
    return found == len(spots) or spots[found] > tokens[last].end


def _spots(text: str, offset: int, hiding: Iterable[str]) -> list[int]:
    """Where a piece stands that makes an expression worth reading."""
    lowered = text.lower()
    found = [match.start() + offset for match in _BOUND.finditer(text)]
    for piece in (*hiding, *_LOOKED_INTO):
        at = lowered.find(piece)
        while at >= 0:
            found.append(at + offset)
            at = lowered.find(piece, at + 1)
    return sorted(found)
