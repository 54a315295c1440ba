"""What every output is made from: the report, and what a reader needs around it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from setpoint.auditing.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setpoint.auditing.finding import Finding, Report
    from setpoint.auditing.rule import Rule


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """An audit as it is shown."""

    report: Report
    """Its findings are the ones to list: selected, and not in the baseline."""
    rules: Mapping[str, Rule]
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The lines of each file that has a finding, excused or not."""
    known: tuple[Finding, ...] = ()
    """Selected, but in the baseline."""
    gone: int = 0
    """Entries of the baseline that were not found any more."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    asked: str = "."
    """The paths as they were typed, for the next command."""

    def excerpt(self, finding: Finding, *, most: int = 6) -> list[tuple[int, str]]:
        """The lines of the spot with their numbers."""
        lines = self.lines.get(finding.path, ())
        last = min(finding.end_line, finding.line + most - 1, len(lines))
        show = _cell_line if finding.path.endswith(".ipynb") else _cut
        return [
            (number, show(lines[number - 1])) for number in range(max(finding.line, 1), last + 1)
        ]

    def fails(self, fail_on: str) -> bool:
        """Whether a listed finding is as bad as `fail_on`, or worse."""
        if fail_on == "never":
            return False
        bar = Severity(fail_on).rank
        return any(finding.severity.rank <= bar for finding in self.report.findings)


def split_lines(text: str) -> tuple[str, ...]:
    """Lines as editors and Python's parser count them; form feeds and the like end no line."""
    return tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


_LONGEST = 200


def _cut(line: str) -> str:
    """A line that a reader can take in; generated SQL has lines of thousands of characters."""
    return line if len(line) <= _LONGEST else line[:_LONGEST] + " …"


def _cell_line(line: str) -> str:
    """A line of a notebook's file as the line of code that it holds."""
    try:
        code = json.loads(line.strip().rstrip(","))
    except ValueError:
        return _cut(line)
    return _cut(code.rstrip("\n")) if isinstance(code, str) else _cut(line)
