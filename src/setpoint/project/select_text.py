"""The text of a SQL task: one SELECT, its parameters known, `surrogate_key(…)` written out."""

from __future__ import annotations

import difflib
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType  # type: ignore[attr-defined]

from setpoint.errors import UsageError
from setpoint.model.key import surrogate_key_sql
from setpoint.model.transform import SQL_PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.tokens import Token  # type: ignore[attr-defined]

OPENERS = (TokenType.L_PAREN, TokenType.L_BRACKET)
CLOSERS = (TokenType.R_PAREN, TokenType.R_BRACKET)


def understand_select(text: str) -> str:
    """The statement to carry out, or a clear refusal. Only its words are read; Spark parses it."""
    tokens = _tokens(text)
    if not tokens:
        raise UsageError("holds no SELECT", next_step="write the SELECT under the header")
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise UsageError("holds more than one statement", next_step="keep one SELECT a file")
    first = tokens[0]
    if first.token_type not in (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN):
        raise UsageError(
            f"begins with {first.text!r}: a task's SQL is a SELECT, Setpoint does the writing",
            next_step="remove the INSERT, MERGE or CREATE around the SELECT",
        )
    _check_parameters(text, tokens)
    return _write_out_keys(text)


def significant_text(text: str) -> str:
    """The statement without comments and layout, to tell a real change from a cosmetic one."""
    # Cut from the text, with quotes: the column a and the text 'a' are different words.
    return " ".join(text[token.start : token.end + 1] for token in _tokens(text))


def _tokens(text: str) -> Sequence[Token]:
    try:
        return Spark().tokenize(text)
    except SqlglotError as error:
        raise UsageError(f"the SELECT cannot be read: {error}") from None


def _check_parameters(text: str, tokens: Sequence[Token]) -> None:
    for colon, name in pairwise(tokens):
        lone = colon.token_type in (TokenType.COLON, TokenType.PARAMETER) and colon.text == ":"
        if not lone or name.start != colon.end + 1 or not re.match(r"\w", name.text):
            continue
        before = text[colon.start - 1] if colon.start else " "
        if re.match(r"[\w\])`]", before):  # a path into a semi-structured column, not a parameter
            continue
        if name.text not in SQL_PARAMETERS:
            near = difflib.get_close_matches(name.text, SQL_PARAMETERS, n=1)
            known = ", ".join(f":{parameter}" for parameter in SQL_PARAMETERS)
            raise UsageError(
                f":{name.text} is not a parameter",
                next_step=f"did you mean :{near[0]}?" if near else f"the parameters are {known}",
            )


def _write_out_keys(text: str) -> str:
    """Replace each `surrogate_key(a, b)` by its definition, innermost text untouched."""
    while True:
        tokens = _tokens(text)
        spot = next(
            (
                n
                for n, token in enumerate(tokens[:-1])
                if token.text.lower() == "surrogate_key"
                and token.token_type is not TokenType.STRING
                and tokens[n + 1].token_type is TokenType.L_PAREN
            ),
            None,
        )
        if spot is None:
            return text
        arguments, end = _arguments(text, tokens, spot + 1)
        text = text[: tokens[spot].start] + surrogate_key_sql(*arguments) + text[end + 1 :]


def _arguments(text: str, tokens: Sequence[Token], opening: int) -> tuple[list[str], int]:
    depth = 0
    arguments: list[str] = []
    argument: list[Token] = []
    for token in tokens[opening:]:
        depth += (token.token_type in OPENERS) - (token.token_type in CLOSERS)
        if depth == 0 or (depth == 1 and token.token_type is TokenType.COMMA):
            if argument:
                # From word to word: a comment behind the last one would swallow what follows.
                arguments.append(text[argument[0].start : argument[-1].end + 1])
            argument = []
            if depth == 0:
                return arguments, token.end
        elif argument or token is not tokens[opening]:
            argument.append(token)
    raise UsageError("surrogate_key( has no closing parenthesis")
