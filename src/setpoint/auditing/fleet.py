"""The fleet: how many pipelines are safe, what is wrong with the others, and where."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from setpoint.auditing.finding import Severity, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.auditing.finding import Finding, Pipeline, Report

NOBODY = "nobody"


@dataclass(frozen=True, kw_only=True)
class Group:
    """The pipelines of one folder or owner."""

    name: str
    safe: int
    unsafe: int
    unknown: int
    errors: int

    @property
    def total(self) -> int:
        """All of its pipelines."""
        return self.safe + self.unsafe + self.unknown


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One rule and how often it was broken."""

    rule: str
    severity: Severity
    count: int
    pipelines: int


@dataclass(frozen=True, kw_only=True)
class Member:
    """A pipeline with its findings, worst first."""

    pipeline: Pipeline
    findings: tuple[Finding, ...]

    @property
    def badness(self) -> tuple[int, int, int, int]:
        """Sorts the worst first."""
        count = Counter(finding.severity for finding in self.findings)
        verdict = (Verdict.UNSAFE, Verdict.UNKNOWN, Verdict.SAFE).index(self.pipeline.verdict)
        return (verdict, -count[Severity.ERROR], -count[Severity.WARNING], -count[Severity.NOTE])


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """The whole picture."""

    safe: int
    unsafe: int
    unknown: int
    severities: dict[Severity, int]
    kinds: tuple[Kind, ...]
    folders: tuple[Group, ...]
    owners: tuple[Group, ...]
    """Empty where nothing says who owns what."""
    members: tuple[Member, ...]
    homeless: tuple[Finding, ...]
    """Findings of no listed pipeline, such as an ignore comment without a reason."""

    @property
    def total(self) -> int:
        """All pipelines."""
        return self.safe + self.unsafe + self.unknown


def fleet_of(report: Report) -> Fleet:
    """Count a report from every side."""
    by_place: dict[tuple[str, str], list[Finding]] = {}
    for finding in report.findings:
        by_place.setdefault((finding.path, finding.pipeline), []).append(finding)
    members = tuple(
        sorted(
            (
                Member(pipeline=pipeline, findings=_worst_first(by_place, pipeline))
                for pipeline in report.pipelines
            ),
            key=lambda m: (m.badness, m.pipeline.path, m.pipeline.line, m.pipeline.name),
        )
    )
    placed = {(pipeline.path, pipeline.name) for pipeline in report.pipelines}
    verdicts = Counter(pipeline.verdict for pipeline in report.pipelines)
    owners = _groups(members, lambda member: member.pipeline.owner or NOBODY)
    return Fleet(
        safe=verdicts[Verdict.SAFE],
        unsafe=verdicts[Verdict.UNSAFE],
        unknown=verdicts[Verdict.UNKNOWN],
        severities=dict(Counter(finding.severity for finding in report.findings)),
        kinds=_kinds(report),
        folders=_groups(members, folder_of),
        owners=owners if any(group.name != NOBODY for group in owners) else (),
        members=members,
        homeless=tuple(f for f in report.findings if (f.path, f.pipeline) not in placed),
    )


def folder_of(member: Member) -> str:
    """The folder that a pipeline's file lies in; a dot for the root."""
    return PurePosixPath(member.pipeline.path).parent.as_posix()


def _worst_first(
    by_place: dict[tuple[str, str], list[Finding]], pipeline: Pipeline
) -> tuple[Finding, ...]:
    found = by_place.get((pipeline.path, pipeline.name), [])
    return tuple(sorted(found, key=lambda f: (f.severity.rank, f.line, f.rule)))


def _kinds(report: Report) -> tuple[Kind, ...]:
    counts: Counter[tuple[str, Severity]] = Counter()
    where: dict[tuple[str, Severity], set[tuple[str, str]]] = {}
    for finding in report.findings:
        same = (finding.rule, finding.severity)
        counts[same] += 1
        where.setdefault(same, set()).add((finding.path, finding.pipeline))
    kinds = [
        Kind(rule=rule, severity=severity, count=count, pipelines=len(where[rule, severity]))
        for (rule, severity), count in counts.items()
    ]
    return tuple(sorted(kinds, key=lambda kind: (kind.severity.rank, -kind.count, kind.rule)))


def _groups(members: tuple[Member, ...], name_of: Callable[[Member], str]) -> tuple[Group, ...]:
    parts: dict[str, list[Member]] = {}
    for member in members:
        parts.setdefault(name_of(member), []).append(member)
    groups = []
    for name, inside in parts.items():
        verdicts = Counter(member.pipeline.verdict for member in inside)
        groups.append(
            Group(
                name=name,
                safe=verdicts[Verdict.SAFE],
                unsafe=verdicts[Verdict.UNSAFE],
                unknown=verdicts[Verdict.UNKNOWN],
                errors=sum(f.severity is Severity.ERROR for m in inside for f in m.findings),
            )
        )
    return tuple(sorted(groups, key=lambda g: (-g.unsafe, -g.errors, -g.unknown, g.name)))
