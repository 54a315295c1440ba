"""Columns of a SELECT that decide nothing, folded to their names before the parser sees them.

Most words of a pipeline's SQL compute columns. No rule looks into such a column unless a clock, a
subquery or the like stands in it, so `CASE … END AS tier` may as well be `tier`; and where nothing
in the whole list hides anything, three columns say as much as sixty. Parsing and every walk over
the tree then cost a fraction.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlglot.tokenizer_core import Token, TokenType

_FEW = 40
"""A statement of fewer words is parsed quicker than folded."""
_SHORT = 4
"""`a AS b` and its like stay as they are."""
_LOOKED_INTO = ("select", "max", "min", "exists", "__h", "__j")
_BOUND = re.compile(r"[?@$]|(?<!:):(?!:)")
"""A value that is bound to the statement; `::` is a cast."""


def folded(  # noqa: C901 - one answer a kind of token
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
    select, matters = TokenType.SELECT, _matters()
    lowered = text.lower()
    spots = _in_words(_spots(lowered, offset, hiding), tokens)
    # A merge asks which columns its source is DISTINCT by; nobody else asks for all of them.
    whole = "merge" in lowered
    gone: list[tuple[int, int]] = []
    lists: list[_Columns | None] = [None]
    for at, token in enumerate(tokens):
        kind = token.token_type
        if kind not in matters:
            continue
        inner = lists[-1]
        if kind is opening:
            lists.append(None)
        elif kind is closing:
            _close(lists.pop() if len(lists) > 1 else None, tokens, at, spots, gone)
            if lists[-1] is not None:
                lists[-1].brackets += 1
        elif kind is select:
            lists[-1] = _Columns(at + 1, whole=whole)
        elif inner is not None and kind is comma:
            inner.end_item(at)
        elif inner is not None:
            _close(inner, tokens, at, spots, gone)
            lists[-1] = None
    for columns in lists:
        _close(columns, tokens, len(tokens), spots, gone)
    return _without(tokens, sorted(gone))


@lru_cache(maxsize=1)
def _matters() -> frozenset[TokenType]:
    """The kinds of tokens that open, part or end a list of columns."""
    from sqlglot.tokenizer_core import TokenType

    return frozenset(
        {
            TokenType.L_PAREN, TokenType.R_PAREN, TokenType.COMMA, TokenType.SELECT,
            TokenType.INTO, TokenType.FROM, TokenType.WHERE, TokenType.PREWHERE, TokenType.UNION,
            TokenType.INTERSECT, TokenType.GROUP_BY, TokenType.HAVING, TokenType.QUALIFY,
            TokenType.ORDER_BY, TokenType.SORT_BY, TokenType.CLUSTER_BY, TokenType.DISTRIBUTE_BY,
            TokenType.LIMIT, TokenType.FETCH, TokenType.WINDOW, TokenType.LATERAL, TokenType.INSERT,
        }
    )  # fmt: skip


def _without(tokens: Sequence[Token], gone: Iterable[tuple[int, int]]) -> Sequence[Token]:
    kept: list[Token] = []
    at = 0
    for start, end in gone:
        kept += tokens[at:start]
        at = end
    kept += tokens[at:]
    return kept


class _Columns:
    """The columns of one SELECT while its tokens pass by; `whole` keeps the name of each."""

    def __init__(self, begin: int, *, whole: bool) -> None:
        self.brackets = 0
        self._begin = begin
        self._whole = whole
        self._commas: list[int] = []
        self._plain = -1
        """The first column without any call."""

    def end_item(self, at: int) -> None:
        """A comma: what came since the last one is a column."""
        if self._plain < 0 and not self.brackets:
            self._plain = len(self._commas)
        self._commas.append(at)
        self.brackets = 0

    def foldable(
        self, tokens: Sequence[Token], end: int, spots: Sequence[int]
    ) -> list[tuple[int, int]]:
        """Which tokens may go.

        Only beside a column without any call: then the SELECT is no single row of aggregates,
        whatever the others compute. What follows SELECT itself may be TOP 1 or DISTINCT, and what
        comes last has no comma after it; both stay.
        """
        commas = self._commas
        if self._plain < 0:
            return []
        if not self._whole and _hides_nothing(tokens, self._begin, end - 1, spots):
            kept = [0, self._plain] if self._plain else [0]
            edges = [*(commas[index - 1] + 1 for index in kept[1:]), commas[-1] + 1]
            return [(commas[index] + 1, edge) for index, edge in zip(kept, edges, strict=True)]
        return [
            (before + 1, at - 1)
            for before, at in pairwise(commas)
            if at - before > _SHORT and _is_foldable(tokens, before + 1, at - 1, spots)
        ]


def _close(
    columns: _Columns | None,
    tokens: Sequence[Token],
    end: int,
    spots: Sequence[int],
    gone: list[tuple[int, int]],
) -> None:
    if columns is not None:
        gone += columns.foldable(tokens, end, spots)


def _hides_nothing(tokens: Sequence[Token], first: int, last: int, spots: Sequence[int]) -> bool:
    found = bisect_left(spots, tokens[first].start)
    return found == len(spots) or spots[found] > tokens[last].end


def _is_foldable(tokens: Sequence[Token], first: int, last: int, spots: Sequence[int]) -> bool:
    """Whether a column is `… AS name`, and nothing in it is looked into by anyone."""
    from sqlglot.tokenizer_core import TokenType

    if tokens[last - 1].token_type is not TokenType.ALIAS:
        return False
    if tokens[last].token_type is not TokenType.VAR:
        return False
    return _hides_nothing(tokens, first, last, spots)


def _spots(lowered: str, offset: int, hiding: Iterable[str]) -> list[int]:
    """Where a piece stands that makes an expression worth reading."""
    found: list[int] = []
    if any(sign in lowered for sign in "?@$:"):
        found += [match.start() + offset for match in _BOUND.finditer(lowered)]
    for piece in (*hiding, *_LOOKED_INTO):
        at = lowered.find(piece)
        while at >= 0:
            found.append(at + offset)
            at = lowered.find(piece, at + 1)
    return sorted(found)


def _in_words(spots: Sequence[int], tokens: Sequence[Token]) -> list[int]:
    """Only what stands in a token: the rest is in comments, and decides nothing."""
    found: list[int] = []
    for spot in spots:
        after = bisect_right(tokens, spot, key=_start)
        if after and tokens[after - 1].end >= spot:
            found.append(spot)
    return found


def _start(token: Token) -> int:
    return token.start
