"""The rules of `setpoint audit`, listed and explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from setpoint.auditing.reports.text import COLOURS
from setpoint.auditing.selection import named_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setpoint.auditing.rule import Rule


def show(rules: Sequence[Rule], word: str | None) -> None:
    """Explain the rules that the word names, or list all."""
    console = Console(highlight=False)
    if word is None:
        _list(console, rules)
        return
    for rule in named_rules(rules, word):
        _explain(console, rule)


def _list(console: Console, rules: Sequence[Rule]) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    for rule in rules:
        severity = Text(rule.severity.value, style=COLOURS[rule.severity])
        table.add_row(Text(rule.id, style="bold"), severity, rule.name, Text(rule.what))
    console.print(table)
    console.print(Text.assemble(("next: ", "bold"), "setpoint audit --explain-rule W01"))


def _explain(console: Console, rule: Rule) -> None:
    console.print(
        Text.assemble(
            (f"{rule.id} {rule.name}", "bold"), "  ", (rule.severity.value, COLOURS[rule.severity])
        )
    )
    for title, words in (
        ("", rule.what),
        ("Why it matters", rule.why),
        ("Before", rule.before),
        ("After", rule.after),
        ("When to let it be", rule.ignore_when),
    ):
        console.print()
        if title:
            console.print(Text(title, style="bold"))
        if title in {"Before", "After"}:
            _code(console, words)
        else:
            console.print(Text(words))
    console.print()


def _code(console: Console, example: str) -> None:
    language, _, code = example.strip("\n").partition("\n")
    if console.is_terminal:
        console.print(Syntax(code, language.strip(), background_color="default"))
    else:
        console.print(Text(code), soft_wrap=True)
