"""The verdict as text: what a person reads first."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from setpoint.verifying.reports.samples import GAP, sample_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from setpoint.verifying.difference import Difference
    from setpoint.verifying.verdict import Finding, Verdict

MARKS = {"passed": "✓", "failed": "✗", "noted": "!", "left out": "·"}
LEAST = 20
"""Room for words that is always taken: in a narrower terminal lines run over."""


def text_report(verdicts: Sequence[Verdict], *, width: int | None = None) -> list[str]:
    """Every verdict, and a last line that counts them; broken at a terminal's width, if given."""
    lines = [line for verdict in verdicts for line in verdict_lines(verdict, width)]
    if len(verdicts) > 1:
        good = sum(verdict.idempotent and not verdict.fed_by for verdict in verdicts)
        lines += [f"{good} of {len(verdicts)} tasks are idempotent", ""]
    return lines[:-1] if lines and not lines[-1] else lines


def verdict_lines(verdict: Verdict, width: int | None = None) -> Iterator[str]:
    """One verdict: the word, each check, then the counter-example, its cause and the fix."""
    yield from _broken(f"{verdict.word.upper()}  ", verdict.subject, width)
    runs = f"{verdict.runs} run{'s' if verdict.runs != 1 else ''}"
    facts = [", ".join(verdict.targets) or "no table", verdict.window or "whole table", runs]
    yield from _broken("  ", " · ".join([*facts, f"{verdict.seconds:.1f} s"]), width)
    for note in verdict.notes:
        yield from _broken("  ", note, width)
    if verdict.error is not None:
        yield from _broken("  ", verdict.error, width)
        if verdict.next_step:
            yield from _broken("  next: ", verdict.next_step, width)
        yield ""
        return
    longest = max((len(found.check) for found in verdict.findings), default=0)
    for found in verdict.findings:
        yield from _broken(f"  {MARKS[found.state]} {found.check:<{longest}}  ", found.found, width)
    for name in verdict.fed_by:
        words = f"fed by {name}, which is not idempotent: this table is no better than it"
        yield from _broken("  ✗ ", words, width)
    yield ""
    for found in shown_failures(verdict):
        yield from failure_lines(found, width)
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


def failure_lines(found: Finding, width: int | None = None) -> Iterator[str]:
    """A counter-example with its cause and fix."""
    yield from _broken(f"  {found.check}: ", f"{found.question} No: {found.found}", width)
    if found.difference is not None:
        yield from sample_lines(found.difference, width)
    if found.cause is not None:
        place = f"{found.cause.where}: " if found.cause.where else ""
        yield from _broken("    cause  ", f"{place}{found.cause.words}", width)
        first, *more = found.cause.fix.splitlines() or [""]
        yield from _broken("    fix    ", first, width)
        for line in more:
            # Code keeps its lines: broken elsewhere it could not be pasted.
            yield f"           {line}"


def sample_lines(difference: Difference, width: int | None = None) -> Iterator[str]:
    """The samples as an aligned table."""
    margin = " " * 6
    table = sample_table(difference, room=None if width is None else width - len(margin))
    if table is None:
        return
    cells = [table.columns, *(line for _, line in table.lines)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(table.columns))]
    head = GAP.join(name.ljust(room) for name, room in zip(table.columns, widths, strict=True))
    more = f" (and {table.left_out} columns more)" if table.left_out else ""
    yield f"    {difference.table}{more}"
    yield f"{margin}{head}".rstrip()
    for mark, line in table.lines:
        text = GAP.join(cell.ljust(room) for cell, room in zip(line, widths, strict=True))
        yield f"    {mark} {text}".rstrip()


def _broken(start: str, text: str, width: int | None) -> Iterator[str]:
    """A line, broken where the terminal ends and going on below its own text."""
    if width is None or len(start) + len(text) <= width:
        yield f"{start}{text}".rstrip()
        return
    yield from textwrap.wrap(
        text,
        max(width, len(start) + LEAST),
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _cause_of(found: Finding) -> tuple[str, str | None]:
    cause = found.cause
    return (cause.kind, cause.where) if cause else (found.check, None)
