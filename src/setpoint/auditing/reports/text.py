"""The text output: colours and a table on a terminal, plain lines in a pipe."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.text import Text

from setpoint.auditing.finding import Severity
from setpoint.auditing.fleet import fleet_of
from setpoint.auditing.reports.wording import (
    next_step,
    plural,
    severity_counts,
    skipped_words,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.finding import Finding
    from setpoint.auditing.fleet import Fleet, Group
    from setpoint.auditing.outcome import Outcome

COLOURS = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_WORST = 5


def text_lines(outcome: Outcome) -> Iterator[Text]:
    """The whole output, line by line."""
    yield from finding_lines(outcome)
    yield from unparsed_lines(outcome)
    yield from summary_lines(outcome)


def finding_lines(outcome: Outcome) -> Iterator[Text]:
    """The findings, grouped by file."""
    owners = {pipeline.path: pipeline.owner for pipeline in outcome.report.pipelines}
    ordered = sorted(outcome.report.findings, key=lambda f: (f.path, f.line, f.rule))
    for path, findings in groupby(ordered, key=lambda finding: finding.path):
        head = Text(visible(path), style="bold underline")
        if owners.get(path):
            head.append(f"  {visible(owners[path] or '')}", style="not bold not underline dim")
        yield head
        for finding in findings:
            yield from _finding(finding, outcome)
        yield Text()


def _finding(finding: Finding, outcome: Outcome) -> Iterator[Text]:
    rule = outcome.rules.get(finding.rule)
    line = Text("  ")
    line.append(f"{visible(finding.path)}:{finding.line}", style="dim")
    line.append(f"  {finding.severity.value}", style=COLOURS[finding.severity])
    line.append(f" {finding.rule}", style="bold")
    if rule:
        line.append(f" {rule.name}")
    if finding.pipeline:
        line.append(f"  in {visible(finding.pipeline)}", style="dim")
    yield line
    excerpt = outcome.excerpt(finding)
    width = len(str(excerpt[-1][0])) if excerpt else 0
    for number, text in excerpt:
        yield Text.assemble((f"    {number:>{width}} │ ", "dim"), visible(text.rstrip()))
    for part in finding.message.splitlines():
        yield Text(f"    {visible(part)}")
    for number, part in enumerate(finding.fix.splitlines()):
        lead = "    fix: " if number == 0 else "         "
        yield Text.assemble((lead, "green"), visible(part))


def unparsed_lines(outcome: Outcome) -> Iterator[Text]:
    """What could not be read."""
    if not outcome.report.unparsed:
        return
    yield Text("Could not be read", style="bold")
    for item in outcome.report.unparsed:
        place = f"{visible(item.path)}:{item.line}"
        yield Text.assemble((f"  {place}", "dim"), f"  {visible(item.reason)}")
    yield Text()


def summary_lines(outcome: Outcome) -> Iterator[Text]:
    """The counts, and what to type next."""
    report, fleet = outcome.report, fleet_of(outcome.report)
    files = plural(report.files, "file")
    yield _row(
        "pipelines",
        Text.assemble(
            (f"{fleet.safe:,} safe", "green" if fleet.safe else ""),
            ", ",
            (f"{fleet.unsafe:,} unsafe", "bold red" if fleet.unsafe else ""),
            ", ",
            (f"{fleet.unknown:,} unknown", "yellow" if fleet.unknown else ""),
            f"  (of {fleet.total:,} in {files})",
        ),
    )
    known = f"  ({len(outcome.known):,} more in the baseline)" if outcome.known else ""
    yield _row("findings", Text(severity_counts(fleet) + known))
    yield from _kinds(fleet, outcome)
    yield from _worst("worst folders", fleet.folders)
    yield from _worst("worst owners", fleet.owners)
    if report.excused:
        yield _row("excused", Text(f"{plural(len(report.excused), 'finding')}, in writing"))
    if report.unparsed:
        yield _row("unread", Text(plural(len(report.unparsed), "spot") + ", listed"))
    if skipped := skipped_words(outcome):
        yield _row("left out", Text(skipped))
    if outcome.gone:
        found = plural(outcome.gone, "entry is", "entries are")
        yield _row("baseline", Text(f"{found} not found any more; --write-baseline drops them"))
    yield Text.assemble(("next: ", "bold"), next_step(outcome, fleet))


def _kinds(fleet: Fleet, outcome: Outcome) -> Iterator[Text]:
    for number, kind in enumerate(fleet.kinds):
        rule = outcome.rules.get(kind.rule)
        name = f" {rule.name}" if rule else ""
        line = Text.assemble(
            (f"{kind.count:>5,} ", COLOURS[kind.severity]),
            (kind.rule, "bold"),
            name,
            (f"  in {plural(kind.pipelines, 'pipeline')}", "dim"),
        )
        yield _row("by kind" if number == 0 else "", line)


def _worst(label: str, groups: tuple[Group, ...]) -> Iterator[Text]:
    bad = [group for group in groups if group.unsafe][:_WORST]
    for number, group in enumerate(bad):
        words = f"{group.unsafe:>5,} unsafe of {group.total:,}  {visible(group.name)}"
        yield _row(label if number == 0 else "", Text(words))


def _row(label: str, content: Text) -> Text:
    return Text.assemble((f"{label:<14}", "bold"), content)
