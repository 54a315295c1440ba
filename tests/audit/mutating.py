"""Broken variants of real files: what an audit meets in a repository that nobody tidies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

# Pieces that open something, end something, or are read in an unusual way.
PIECES = (
    "(", ")", "((((((((", "))))", "[", "]", "{", "}", "'", '"', '"""', "`", "$$", "$body$", ";",
    "--", "/*", "*/", "#", "{{", "}}", "{%", "%}", "{#", "#}", "{% if is_incremental() %}",
    "{% endif %}", "{{ config(materialized='incremental') }}", "f'{", "\\", "\t", "\r", "\x00",
    "\ufeff", "\u2028", "\x0c", "é", "🦆", "INSERT INTO t ", "SELECT ", "FROM ", "WHERE ",
    "MERGE INTO t USING s ON ", "WITH a AS (", "UNION ALL ", "CASE WHEN ", "BEGIN ", "END ",
    "DELETE FROM t ", "NOW()", "CURRENT_DATE", "uuid4()", " AND NOT EXISTS (SELECT 1 FROM t) ",
    "def f():\n", "    return\n", "with DAG('x') as dag:\n", "class A:\n", "lambda: ", "%%sql\n",
    "# COMMAND ----------\n", "-- setpoint: ignore[W01]\n", "# setpoint: ignore[T01] why\n",
)  # fmt: skip


def _cut(text: str, chance: random.Random) -> str:
    start, end = _span(text, chance)
    return text[:start] + text[end:]


def _double(text: str, chance: random.Random) -> str:
    start, end = _span(text, chance)
    return text[:end] + text[start:end] * chance.randrange(1, 6) + text[end:]


def _insert(text: str, chance: random.Random) -> str:
    spot = chance.randrange(len(text) + 1)
    return text[:spot] + chance.choice(PIECES) * chance.choice((1, 1, 1, 2, 30)) + text[spot:]


def _truncate(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text) + 1)]


def _swap_lines(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return "\n".join(lines)


def _indent(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    spot = chance.randrange(len(lines))
    lines[spot] = " " * chance.randrange(1, 9) + lines[spot]
    return "\n".join(lines)


def _flip(text: str, chance: random.Random) -> str:
    if not text:
        return chance.choice(PIECES)
    spot = chance.randrange(len(text))
    return text[:spot] + chr(chance.randrange(1, 0x2FF)) + text[spot + 1 :]


def _nest(text: str, chance: random.Random) -> str:
    opening, closing = chance.choice((("(", ")"), ("[", "]"), ("CASE WHEN ", " END"), ("f(", ")")))
    start, end = _span(text, chance)
    depth = chance.choice((5, 50, 500))
    return text[:start] + opening * depth + text[start:end] + closing * depth + text[end:]


def _case(text: str, chance: random.Random) -> str:
    return chance.choice((text.upper, text.lower, text.swapcase))()


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (
    _cut, _double, _insert, _insert, _insert, _truncate, _swap_lines, _indent, _flip, _nest, _case,
)  # fmt: skip
_LARGEST = 400_000


def mutated(text: str, others: Sequence[str], chance: random.Random) -> str:
    """The text with one to six things wrong, sometimes with a piece of another file in it."""
    if others and not chance.randrange(8):
        start, end = _span(other := chance.choice(others), chance)
        spot = chance.randrange(len(text) + 1)
        text = text[:spot] + other[start:end] + text[spot:]
    for _ in range(chance.randrange(1, 7)):
        text = chance.choice(MUTATIONS)(text, chance)[:_LARGEST]
    return text


def _span(text: str, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(text) + 1)
    return start, min(len(text), start + chance.choice((1, 5, 40, 200, 1000)))
