"""Which rules a person asked for."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from setpoint.auditing.rule import Rule


def selected_rules(
    rules: Sequence[Rule], *, select: Iterable[str] = (), ignore: Iterable[str] = ()
) -> frozenset[str]:
    """The ids to list: the selected ones, or all, without the ignored ones.

    A rule is named by its id (`W01`), its name (`unguarded-append`) or the beginning of ids (`W`).
    """
    chosen = [found for word in _words(select) for found in named_rules(rules, word)]
    refused = [found for word in _words(ignore) for found in named_rules(rules, word)]
    wanted = {rule.id for rule in chosen} if chosen else {rule.id for rule in rules}
    return frozenset(wanted - {rule.id for rule in refused})


def named_rules(rules: Sequence[Rule], word: str) -> list[Rule]:
    """The rules that a word names; a word that names none is a wrong use."""
    found = [
        rule
        for rule in rules
        if rule.id.upper().startswith(word.upper()) or rule.name == word.lower()
    ]
    if found:
        return found
    names = {rule.id.lower(): rule.id for rule in rules} | {rule.name: rule.id for rule in rules}
    near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.5)
    meant = f" Did you mean {names[near[0]]}?" if near else ""
    raise UsageError(f"There is no rule {word!r}.{meant}", next_step="setpoint audit --list-rules")


def _words(given: Iterable[str]) -> list[str]:
    return [word.strip() for text in given for word in text.split(",") if word.strip()]
