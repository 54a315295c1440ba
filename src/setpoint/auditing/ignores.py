"""Exceptions in writing: `-- setpoint: ignore[W01] reason`, and what becomes of findings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from setpoint.auditing.facts import Ignore, Spot
from setpoint.auditing.finding import Edit, Excused, Finding
from setpoint.auditing.rules.i01_ignore_without_reason import RULE as WITHOUT_REASON
from setpoint.auditing.rules.i02_unused_ignore import RULE as UNUSED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from setpoint.auditing.facts import FileFacts

_COMMENT = re.compile(
    r"(?:--|#|//|/\*|\{#)\s*setpoint:\s*ignore(?:\[([^\]]*)\])?[ \t:]*([^\n]*)", re.IGNORECASE
)
_CLOSERS = re.compile(r"\s*(?:\*/|#\}|\\n\",?|\",?)\s*$")
_FURTHEST = 3
"""A comment of its own line speaks for the next line of code, comments and blanks between."""


def read_ignores(text: str) -> tuple[Ignore, ...]:
    """The ignore comments of a file, each with the lines that it speaks for."""
    if "setpoint:" not in text:
        return ()
    lines = text.split("\n")
    found: list[Ignore] = []
    begin = 0
    for number, line in enumerate(lines, start=1):
        offset, begin = begin, begin + len(line) + 1
        match = _COMMENT.search(line)
        if match is None:
            continue
        rules = tuple(
            part.strip().upper() for part in (match.group(1) or "").split(",") if part.strip()
        )
        reason = _CLOSERS.sub("", match.group(2)).strip()
        alone = not line[: match.start()].strip()
        last = _next_code(lines, number) if alone else number
        found.append(
            Ignore(
                spot=_comment_spot(line, match, number, offset),
                rules=rules,
                reason=reason,
                covers=(number, last),
            )
        )
    return tuple(found)


def _comment_spot(line: str, match: re.Match[str], number: int, offset: int) -> Spot:
    """Where the comment stands: what to take away so that it is gone, if that is plain to see."""
    if not match.group(0).startswith(("--", "#")):
        return Spot(line=number, end_line=number)
    before = line[: match.start()].rstrip()
    if not before:
        return Spot(line=number, end_line=number, start=offset, end=offset + len(line) + 1)
    end = offset + len(line.rstrip("\r"))
    return Spot(line=number, end_line=number, start=offset + len(before), end=end)


def _next_code(lines: Sequence[str], number: int) -> int:
    for at in range(number, len(lines)):
        stripped = lines[at].strip()
        if stripped and not stripped.startswith(("--", "#", "//", "/*", "{#")):
            return at + 1
    return number


def apply_ignores(findings: Iterable[Finding], files: Sequence[FileFacts]) -> tuple[Finding, ...]:
    """Findings without the excused ones, and with those about the excuses themselves."""
    by_path = {file.path: file for file in files if file.ignores}
    kept: list[Finding] = []
    used: set[tuple[str, int, str]] = set()
    for finding in findings:
        file = by_path.get(finding.path)
        excuse = _excuse(finding, file.ignores) if file is not None else None
        if excuse is None:
            kept.append(finding)
        else:
            used.add((finding.path, excuse.spot.line, finding.rule))
    for path, file in by_path.items():
        if file.setting in {"test", "sample"}:
            # Nothing in it is judged, so nothing can be said of its exceptions.
            continue
        for ignore in file.ignores:
            kept.extend(_about(ignore, path, used))
    return tuple(kept)


def excused_by(findings: Iterable[Finding], files: Sequence[FileFacts]) -> tuple[Excused, ...]:
    """The findings that a comment excuses; every exception in writing can be looked up."""
    ignores = {file.path: file.ignores for file in files if file.ignores}
    return tuple(
        Excused(finding=finding, reason=excuse.reason)
        for finding in findings
        if (excuse := _excuse(finding, ignores.get(finding.path, ()))) is not None
    )


def _excuse(finding: Finding, ignores: Iterable[Ignore]) -> Ignore | None:
    for ignore in ignores:
        first, last = ignore.covers
        inside = first <= finding.line <= last or finding.line <= first <= finding.end_line
        if inside and (not ignore.rules or finding.rule in ignore.rules):
            return ignore
    return None


def _about(ignore: Ignore, path: str, used: set[tuple[str, int, str]]) -> Iterable[Finding]:
    line = ignore.spot.line
    if not ignore.reason:
        yield Finding(
            rule=WITHOUT_REASON.id,
            severity=WITHOUT_REASON.severity,
            path=path,
            line=line,
            end_line=line,
            message="this exception says no reason",
            fix="write after the bracket why the finding does not matter here",
            pipeline="",
        )
    spent = {rule for of, at, rule in used if of == path and at == line}
    unspent = [rule for rule in ignore.rules if rule not in spent]
    if unspent or not (ignore.rules or spent):
        yield Finding(
            rule=UNUSED.id,
            severity=UNUSED.severity,
            path=path,
            line=line,
            end_line=line,
            message=f"this exception matches no "
            f"finding{' of ' + ', '.join(unspent) if unspent else ''}",
            fix="remove the comment",
            pipeline="",
            edits=() if path.endswith(".ipynb") else _removal(ignore, unspent),
        )


def _removal(ignore: Ignore, unspent: list[str]) -> tuple[Edit, ...]:
    if ignore.spot.start < 0 or len(unspent) != len(ignore.rules):
        return ()
    return (Edit(start=ignore.spot.start, end=ignore.spot.end, text=""),)
