"""SQL that is run again and again with other literals in it: parsed once.

A loop over three regions runs three texts that differ in `'eu'`, `'us'` and `'apac'`. What each of
them does is the same but for those words.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from setpoint.auditing.sql.reading import read_sql

if TYPE_CHECKING:
    from setpoint.auditing.facts import Write
    from setpoint.auditing.sql.reading import SqlFacts
    from setpoint.auditing.sql.writes import Memory

_LITERAL = re.compile(
    # Only plain words. `'now'` is a clock, and a hole stands for a value of its own.
    r"'(?!now'|today'|yesterday'|tomorrow'|[^']*__h)([A-Za-z0-9_ .\-]{0,60})'"
)
_LOADS = re.compile(r"(?i)\b(?:copy|load|unload)\b")
"""Their literals are options, which decide what they do."""

_Key = tuple[str, str, int, object]


class RepeatedTexts:
    """What the texts of one module were found to do, by their shape."""

    def __init__(self) -> None:
        self._known: dict[_Key, tuple[tuple[str, ...], SqlFacts]] = {}

    def read(self, text: str, *, hint: str, path: str, first_line: int, memory: Memory) -> SqlFacts:
        """Read a text, or tell from an earlier one of the same shape."""
        shape = text if _LOADS.search(text) else _LITERAL.sub("''", text)
        literals = tuple(_LITERAL.findall(text)) if shape != text else ()
        key = (shape, hint, first_line, memory.state())
        known = self._known.get(key)
        if known is not None:
            changed = _changed(known[0], literals)
            if changed is not None:
                return _with(known[1], changed)
        facts = read_sql(
            text, hint=hint, path=path, first_line=first_line, selects=True, memory=memory
        )
        if memory.state() == key[-1]:
            self._known[key] = (literals, facts)
        return facts


def _changed(before: tuple[str, ...], after: tuple[str, ...]) -> dict[str, str] | None:
    """Which literal became which; None when one became two, so that nobody can tell them apart."""
    changed: dict[str, str] = {}
    for one, other in zip(before, after, strict=True):
        if changed.setdefault(one, other) != other:
            return None
    return {one: other for one, other in changed.items() if one != other}


def _with(facts: SqlFacts, changed: dict[str, str]) -> SqlFacts:
    if not changed:
        return facts
    words = {f"'{one}'": f"'{other}'" for one, other in changed.items()}
    words |= {one.lower(): other.lower() for one, other in words.items()}
    pattern = re.compile("|".join(re.escape(one) for one in words))

    def now(text: str) -> str:
        return pattern.sub(lambda match: words[match.group(0)], text) if text else text

    def moved(write: Write) -> Write:
        return replace(
            write,
            scope=now(write.scope),
            source_filter=now(write.source_filter),
            exact=now(write.exact),
        )

    return replace(facts, writes=tuple(moved(write) for write in facts.writes))
