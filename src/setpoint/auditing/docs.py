"""Writes the pages of the rules: `python -m setpoint.auditing.docs docs/rules`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setpoint.auditing.rule import Rule

INDEX = "README.md"
_GROUPS = {
    "W": "Writes",
    "T": "Time",
    "R": "Randomness and generated keys",
    "E": "Environment",
    "X": "Effects on the outside world",
    "S": "Schedules and retries",
    "I": "Exceptions in writing",
}


def pages(rules: Sequence[Rule]) -> dict[str, str]:
    """Every page by its file name: one a rule, and the index."""
    made = {page_name(rule): rule_page(rule) for rule in rules}
    made[INDEX] = index_page(rules)
    return made


def page_name(rule: Rule) -> str:
    """The file of a rule's page."""
    return f"{rule.name}.md"


def rule_page(rule: Rule) -> str:
    """The page of one rule."""
    language, before = _example(rule.before)
    after_language, after = _example(rule.after)
    return f"""# {rule.id}: {rule.name.replace("-", " ")}

Severity: **{rule.severity.value}** · [all rules]({INDEX})

{rule.what.strip()}

## Why it matters

{rule.why.strip()}

## Before

```{language}
{before}
```

## After

```{after_language}
{after}
```

## When to let it be

{rule.ignore_when.strip()}

Say so in the code, with the reason; without one the comment is itself a finding:

```{language}
{_comment(language)} setpoint: ignore[{rule.id}] the reason, for whoever reads this next
```
"""


def index_page(rules: Sequence[Rule]) -> str:
    """The list of all rules, by what they are about."""
    parts = [
        "# Rules of `setpoint audit`",
        "",
        "Generated from the rules themselves by `make docs`. `setpoint audit --explain-rule W01`",
        "shows the same in a terminal. How the audit judges: [audit.md](../audit.md).",
    ]
    for letter, title in _GROUPS.items():
        inside = [rule for rule in rules if rule.id.startswith(letter)]
        if not inside:
            continue
        parts += ["", f"## {title}", "", "| rule | severity | what it finds |", "|---|---|---|"]
        parts += [
            f"| [{rule.id} {rule.name}]({page_name(rule)}) | {rule.severity.value} "
            f"| {_cell(rule.what)} |"
            for rule in inside
        ]
    return "\n".join(parts) + "\n"


def write_pages(made: Mapping[str, str], folder: Path) -> None:
    """Write the pages, and remove those of rules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    for place in folder.glob("*.md"):
        if place.name not in made:
            place.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


def _example(text: str) -> tuple[str, str]:
    language, _, code = text.strip("\n").partition("\n")
    return language.strip(), code.rstrip()


def _comment(language: str) -> str:
    return "--" if language == "sql" else "#"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main(arguments: Sequence[str]) -> None:
    """Write the pages of all rules into a folder."""
    from setpoint.auditing.rules.registry import RULES

    write_pages(pages(RULES), Path(arguments[0] if arguments else "docs/rules"))


if __name__ == "__main__":
    main(sys.argv[1:])
