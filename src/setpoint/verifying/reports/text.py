"""The verdict as text: what a person reads first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.verifying.reports.samples import sample_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from setpoint.verifying.difference import Difference
    from setpoint.verifying.verdict import Finding, Verdict

MARKS = {"passed": "✓", "failed": "✗", "noted": "!", "left out": "·"}


def text_report(verdicts: Sequence[Verdict]) -> list[str]:
    """Every verdict, and a last line that counts them."""
    lines = [line for verdict in verdicts for line in verdict_lines(verdict)]
    if len(verdicts) > 1:
        good = sum(verdict.idempotent and not verdict.fed_by for verdict in verdicts)
        lines += [f"{good} of {len(verdicts)} tasks are idempotent", ""]
    return lines[:-1] if lines and not lines[-1] else lines


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """One verdict: the word, each check, then the counter-example, its cause and the fix."""
    yield f"{verdict.word.upper()}  {verdict.subject}"
    runs = f"{verdict.runs} run{'s' if verdict.runs != 1 else ''}"
    facts = [", ".join(verdict.targets) or "no table", verdict.window or "whole table", runs]
    yield "  " + " · ".join([*facts, f"{verdict.seconds:.1f} s"])
    for note in verdict.notes:
        yield f"  {note}"
    if verdict.error is not None:
        yield f"  {verdict.error}"
        if verdict.next_step:
            yield f"  next: {verdict.next_step}"
        yield ""
        return
    width = max((len(found.check) for found in verdict.findings), default=0)
    for found in verdict.findings:
        yield f"  {MARKS[found.state]} {found.check:<{width}}  {found.found}".rstrip()
    for name in verdict.fed_by:
        yield f"  ✗ fed by {name}, which is not idempotent: this table is no better than it"
    yield ""
    for found in shown_failures(verdict):
        yield from failure_lines(found)
        yield ""


def shown_failures(verdict: Verdict) -> list[Finding]:
    """The failures worth showing: the main one, then one for each further cause."""
    main = verdict.main
    if main is None:
        return []
    shown, causes = [main], {_cause_of(main)}
    for found in verdict.failures:
        if found is not main and _cause_of(found) not in causes:
            causes.add(_cause_of(found))
            shown.append(found)
    return shown


def failure_lines(found: Finding) -> Iterator[str]:
    """A counter-example with its cause and fix."""
    yield f"  {found.check}: {found.question} No: {found.found}"
    if found.difference is not None:
        yield from sample_lines(found.difference)
    if found.cause is not None:
        place = f"{found.cause.where}: " if found.cause.where else ""
        yield f"    cause  {place}{found.cause.words}"
        first, *more = found.cause.fix.splitlines() or [""]
        yield f"    fix    {first}"
        for line in more:
            yield f"           {line}"


def sample_lines(difference: Difference) -> Iterator[str]:
    """The samples as an aligned table."""
    table = sample_table(difference)
    if table is None:
        return
    cells = [table.columns, *(line for _, line in table.lines)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(table.columns))]
    head = "  ".join(name.ljust(width) for name, width in zip(table.columns, widths, strict=True))
    yield f"    {difference.table}"
    yield f"      {head}".rstrip()
    for mark, line in table.lines:
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield f"    {mark} {text}".rstrip()


def _cause_of(found: Finding) -> tuple[str, str | None]:
    cause = found.cause
    return (cause.kind, cause.where) if cause else (found.check, None)
