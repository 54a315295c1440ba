"""The HTML output: one page about the whole fleet, with nothing loaded from anywhere."""

from __future__ import annotations

import base64
import hashlib
import html
from typing import TYPE_CHECKING

from setpoint.auditing.fleet import NOBODY, Fleet, Group, Member, fleet_of, folder_of
from setpoint.auditing.reports.page_style import SCRIPT, STYLE
from setpoint.auditing.reports.wording import plural, severity_counts, skipped_words, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from setpoint.auditing.finding import Finding
    from setpoint.auditing.outcome import Outcome


def page_text(outcome: Outcome) -> str:
    """The fleet page."""
    fleet = fleet_of(outcome.report)
    body = "".join(_body(outcome, fleet))
    # Only the style and script of this file may run, whatever a table is called.
    policy = f"default-src 'none'; style-src '{_hash(STYLE)}'; script-src '{_hash(SCRIPT)}'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>Which pipelines can be run twice</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def _e(text: str) -> str:
    """Anything that a repository says, as text of the page."""
    return html.escape(visible(text), quote=True)


def _body(outcome: Outcome, fleet: Fleet) -> Iterator[str]:
    report = outcome.report
    yield "<h1>Which pipelines can be run twice</h1>\n"
    about = [f"{plural(fleet.total, 'pipeline')} in {plural(report.files, 'file')}"]
    about.append(f"findings: {severity_counts(fleet)}")
    if outcome.known:
        about.append(f"{len(outcome.known):,} more in the baseline")
    if skipped := skipped_words(outcome):
        about.append(f"left out: {skipped}")
    yield f'<p class="lead">{_e(" · ".join(about))}</p>\n'
    yield from _counts(fleet)
    yield '<div class="columns">\n'
    yield from _kinds(outcome, fleet)
    yield from _groups("By folder", "folder", fleet.folders)
    if fleet.owners:
        yield from _groups("By owner", "owner", fleet.owners)
    yield "</div>\n"
    yield from _pipelines(outcome, fleet)
    yield from _rest(outcome, fleet)


def _counts(fleet: Fleet) -> Iterator[str]:
    parts = (("unsafe", fleet.unsafe), ("unknown", fleet.unknown), ("safe", fleet.safe))
    yield '<section class="card">\n<div class="counts">\n'
    for name, count in parts:
        yield f'<div class="count"><b class="{name}">{count:,}</b><span>{name}</span></div>\n'
    yield f"</div>\n{_bar(parts)}</section>\n"


def _bar(parts: Sequence[tuple[str, int]], *, small: bool = False) -> str:
    # Widths by flex-grow would need style attributes, which the page's own policy forbids; an SVG
    # carries its numbers in plain attributes.
    total = sum(count for _, count in parts) or 1
    height = 8 if small else 12
    shapes, left = [], 0.0
    for name, count in parts:
        width = 1000 * count / total
        if count:
            gap = 2 if width > 4 else 0  # noqa: PLR2004 - a hair between colours, not over them
            shapes.append(
                f'<rect class="{name}" x="{left:.1f}" width="{width - gap:.1f}" height="10"/>'
            )
        left += width
    words = ", ".join(f"{count:,} {name}" for name, count in parts)
    return (
        f'<svg class="bar" role="img" aria-label="{_e(words)}" width="100%" height="{height}" '
        f'viewBox="0 0 1000 10" preserveAspectRatio="none">{"".join(shapes)}</svg>\n'
    )


def _kinds(outcome: Outcome, fleet: Fleet) -> Iterator[str]:
    yield '<section class="card">\n<h2>By kind of bug</h2>\n'
    if not fleet.kinds:
        yield '<p class="label">No findings.</p></section>\n'
        return
    yield '<div class="scroll"><table>\n<tr><th>rule</th><th class="number">findings</th>'
    yield '<th class="number">pipelines</th></tr>\n'
    for kind in fleet.kinds:
        rule = outcome.rules.get(kind.rule)
        name = f" {rule.name.replace('-', ' ')}" if rule else ""
        yield (
            f'<tr><td class="name">{_link("rule", kind.rule, kind.rule + name)}</td>'
            f'<td class="number {kind.severity.value}">{kind.count:,}</td>'
            f'<td class="number">{kind.pipelines:,}</td></tr>\n'
        )
    yield "</table></div>\n</section>\n"


def _groups(title: str, field: str, groups: tuple[Group, ...]) -> Iterator[str]:
    yield f'<section class="card">\n<h2>{title}</h2>\n<div class="scroll"><table>\n'
    yield f'<tr><th>{field}</th><th></th><th class="number">unsafe of all</th></tr>\n'
    for group in groups:
        parts = (("unsafe", group.unsafe), ("unknown", group.unknown), ("safe", group.safe))
        yield (
            f'<tr><td class="name">{_link(field, group.name, group.name)}</td>'
            f'<td class="grow">{_bar(parts, small=True)}</td>'
            f'<td class="number">{group.unsafe:,} of {group.total:,}</td></tr>\n'
        )
    yield "</table></div>\n</section>\n"


def _link(field: str, value: str, words: str) -> str:
    # Paths may break after a slash, before they break within a name.
    shown = _e(words).replace("/", "/<wbr>")
    return f'<button class="link" data-field="{field}" data-value="{_e(value)}">{shown}</button>'


def _pipelines(outcome: Outcome, fleet: Fleet) -> Iterator[str]:
    yield '<section class="card" id="pipelines">\n<h2>Pipelines, worst first</h2>\n'
    yield '<div class="filters">\n'
    yield '<input id="search" type="search" placeholder="Search name, path, table or rule" '
    yield 'aria-label="Search">\n'
    yield _choice("verdict", "all verdicts", ["unsafe", "unknown", "safe"])
    yield _choice("rule", "all rules", sorted({kind.rule for kind in fleet.kinds}))
    yield _choice("folder", "all folders", sorted(group.name for group in fleet.folders))
    if fleet.owners:
        yield _choice("owner", "all owners", sorted(group.name for group in fleet.owners))
    yield '<button id="clear" type="button">Clear</button>\n</div>\n'
    yield '<p id="shown" aria-live="polite"></p>\n'
    for member in fleet.members:
        yield from _member(member, outcome)
    yield "</section>\n"


def _choice(name: str, every: str, values: list[str]) -> str:
    options = "".join(f'<option value="{_e(value)}">{_e(value)}</option>' for value in values)
    return (
        f'<select id="{name}" aria-label="{name}"><option value="">{every}</option>'
        f"{options}</select>\n"
    )


def _member(member: Member, outcome: Outcome) -> Iterator[str]:
    pipeline = member.pipeline
    rules = list(dict.fromkeys(finding.rule for finding in member.findings))
    worst = {finding.rule: finding.severity.value for finding in reversed(member.findings)}
    words = [pipeline.name, pipeline.path, pipeline.kind, pipeline.owner or "", *rules]
    text = " ".join([*words, *pipeline.reads, *pipeline.writes]).lower()
    yield (
        f'<details class="pipeline" data-verdict="{pipeline.verdict.value}" '
        f'data-rule="{_e(" ".join(rules))}" data-folder="{_e(folder_of(member))}" '
        f'data-owner="{_e(pipeline.owner or NOBODY)}" data-text="{_e(text)}">\n<summary>'
        f'<span class="verdict {pipeline.verdict.value}">{pipeline.verdict.value}</span>'
        f'<span class="title">{_e(pipeline.name)}</span>'
        f'<span class="where">{_e(pipeline.path)}:{pipeline.line}</span><span class="tags">'
    )
    for rule in rules:
        yield f'<span class="tag {worst[rule]}">{_e(rule)}</span>'
    yield "</span></summary>\n"
    facts = [pipeline.kind]
    if pipeline.owner:
        facts.append(f"owner {pipeline.owner}")
    if pipeline.writes:
        facts.append(f"writes {', '.join(pipeline.writes)}")
    if pipeline.reads:
        facts.append(f"reads {', '.join(pipeline.reads)}")
    yield f'<p class="facts">{_e(" · ".join(facts))}</p>\n'
    for finding in member.findings:
        yield from _finding(finding, outcome)
    if not member.findings:
        yield '<p class="facts">No findings listed.</p>\n'
    yield "</details>\n"


def _finding(finding: Finding, outcome: Outcome) -> Iterator[str]:
    rule = outcome.rules.get(finding.rule)
    name = f" {rule.name.replace('-', ' ')}" if rule else ""
    yield (
        f'<div class="finding {finding.severity.value}"><h3>{_e(finding.rule + name)} '
        f'<span class="where">{_e(finding.path)}:{finding.line}</span></h3>\n'
    )
    if excerpt := outcome.excerpt(finding):
        width = len(str(excerpt[-1][0]))
        lines = [f"<i>{number:>{width}}</i>  {_e(line.rstrip())}" for number, line in excerpt]
        yield f"<pre>{chr(10).join(lines)}</pre>\n"
    yield f"<p>{_e(finding.message)}</p>\n"
    fix = "\n".join(_e(line) for line in finding.fix.splitlines())
    yield f'<span class="label">Fix</span><pre>{fix}</pre></div>\n'


def _rest(outcome: Outcome, fleet: Fleet) -> Iterator[str]:
    if fleet.homeless:
        yield '<section class="card">\n<h2>Findings outside of pipelines</h2>\n'
        for finding in fleet.homeless:
            yield from _finding(finding, outcome)
        yield "</section>\n"
    if outcome.report.unparsed:
        yield '<section class="card">\n<h2>Could not be read</h2>\n<ul class="plain">\n'
        for item in outcome.report.unparsed:
            place = f"{_e(item.path)}:{item.line}"
            yield f'<li>{place} <span class="where">{_e(item.reason)}</span></li>\n'
        yield "</ul>\n</section>\n"
