"""A planted case: a script or a task, what is wrong with it, and the checks that matter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
FACT = re.compile(r"^(?:#|--) (cause|checks|target|record|variables|site|slow|needs)(?:: (.*))?$")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One file of broken/ or sound/; its first comment lines say what to expect."""

    path: Path
    causes: frozenset[str]
    checks: tuple[str, ...]
    target: str
    record: tuple[str, ...]
    variables: dict[str, str]
    site: bool
    """Needs site-packages; the others start faster without."""
    slow: bool
    needs: str

    @property
    def name(self) -> str:
        """The task's name, and the test's."""
        return self.path.stem


def cases(folder: str) -> list[Case]:
    """The cases of a folder such as `broken/scripts`."""
    found = sorted([*(HERE / folder).glob("*.py"), *(HERE / folder).glob("*.sql")])
    return [_case(path) for path in found]


def _case(path: Path) -> Case:
    lines = path.read_text(encoding="utf-8").splitlines()
    facts = {found[1]: found[2] or "" for line in lines if (found := FACT.match(line))}

    def listed(name: str) -> list[str]:
        return [each.strip() for each in facts.get(name, "").split(",") if each.strip()]

    pairs = (each.partition("=") for each in listed("variables"))
    return Case(
        path=path,
        causes=frozenset(listed("cause")),
        checks=tuple(listed("checks")),
        target=facts.get("target", "shop.db"),
        record=tuple(listed("record")),
        variables={name: value for name, _, value in pairs},
        site="site" in facts,
        slow="slow" in facts,
        needs=facts.get("needs", ""),
    )
