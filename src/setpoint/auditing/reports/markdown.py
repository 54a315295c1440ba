"""The Markdown output, for a comment on a pull request."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from setpoint.auditing.finding import Severity
from setpoint.auditing.fleet import fleet_of
from setpoint.auditing.reports.wording import next_step, plural, severity_counts, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.finding import Finding
    from setpoint.auditing.fleet import Fleet
    from setpoint.auditing.outcome import Outcome

SIGNS = {Severity.ERROR: "🔴", Severity.WARNING: "🟡", Severity.NOTE: "🔵"}
# Comments are cut at 65,536 characters; a finding with its excerpt takes about 700.
MOST = 60


def markdown_text(outcome: Outcome) -> str:
    """The outcome as Markdown."""
    return "\n".join(_lines(outcome)) + "\n"


def _lines(outcome: Outcome) -> Iterator[str]:
    fleet = fleet_of(outcome.report)
    yield f"## {_headline(fleet)}"
    yield ""
    yield "| pipelines | safe | unsafe | unknown | findings |"
    yield "|---:|---:|---:|---:|---|"
    known = f", {len(outcome.known):,} more in the baseline" if outcome.known else ""
    yield (
        f"| {fleet.total:,} | {fleet.safe:,} | {fleet.unsafe:,} | {fleet.unknown:,} "
        f"| {severity_counts(fleet)}{known} |"
    )
    if fleet.kinds:
        yield from _kinds(fleet, outcome)
        yield from _findings(outcome)
    if outcome.report.unparsed:
        yield ""
        yield from _unparsed(outcome)
    yield ""
    yield f"Next: `{next_step(outcome, fleet)}`"


def _headline(fleet: Fleet) -> str:
    if fleet.unsafe:
        return f"{plural(fleet.unsafe, 'pipeline')} cannot be run twice"
    if fleet.kinds:
        return "No pipeline is unsafe to run twice; some findings"
    return "Nothing here is unsafe to run twice"


def _kinds(fleet: Fleet, outcome: Outcome) -> Iterator[str]:
    yield ""
    yield "| | rule | findings | pipelines |"
    yield "|---|---|---:|---:|"
    for kind in fleet.kinds:
        rule = outcome.rules.get(kind.rule)
        name = f" {rule.name}" if rule else ""
        sign = SIGNS[kind.severity]
        yield f"| {sign} | **{kind.rule}**{name} | {kind.count:,} | {kind.pipelines:,} |"


def _findings(outcome: Outcome) -> Iterator[str]:
    worst_first = sorted(
        outcome.report.findings, key=lambda f: (f.severity.rank, f.path, f.line, f.rule)
    )
    for finding in worst_first[:MOST]:
        yield ""
        yield from _finding(finding, outcome)
    if len(worst_first) > MOST:
        yield ""
        yield f"… and {plural(len(worst_first) - MOST, 'finding')} more."


def _finding(finding: Finding, outcome: Outcome) -> Iterator[str]:
    place = code(f"{finding.path}:{finding.line}")
    yield "<details>"
    yield (
        f"<summary>{SIGNS[finding.severity]} <b>{finding.rule}</b> "
        f"<code>{_escaped(f'{finding.path}:{finding.line}')}</code> "
        f"{_escaped(finding.message)}</summary>"
    )
    yield ""
    yield f"{place}, pipeline {code(finding.pipeline)}" if finding.pipeline else place
    excerpt = "\n".join(visible(line.rstrip()) for _, line in outcome.excerpt(finding))
    if excerpt:
        yield ""
        yield fence(excerpt, _language(finding.path))
    yield ""
    yield "Fix:"
    yield ""
    yield fence("\n".join(visible(line) for line in finding.fix.splitlines()), "")
    yield ""
    yield "</details>"


def _unparsed(outcome: Outcome) -> Iterator[str]:
    unparsed = outcome.report.unparsed
    yield f"<details><summary>{plural(len(unparsed), 'spot')} could not be read</summary>"
    yield ""
    for item in unparsed[:MOST]:
        yield f"- {code(f'{item.path}:{item.line}')} {_escaped(item.reason)}"
    if len(unparsed) > MOST:
        yield f"- … and {len(unparsed) - MOST:,} more"
    yield ""
    yield "</details>"


def code(text: str) -> str:
    """Text as inline code that nothing inside can end."""
    shown = " ".join(visible(text).split())
    return f"<code>{_escaped(shown)}</code>"


def fence(text: str, language: str) -> str:
    """Text as a code block that nothing inside can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def _escaped(text: str) -> str:
    """Text that is neither HTML nor Markdown, nor calls anybody by name."""
    shown = html.escape(" ".join(visible(text).split()))
    return re.sub(r"[\\`*_\[\]#|~@!]", lambda sign: f"&#{ord(sign[0])};", shown)


def _language(path: str) -> str:
    return {"sql": "sql", "py": "python"}.get(path.rsplit(".", 1)[-1], "")
