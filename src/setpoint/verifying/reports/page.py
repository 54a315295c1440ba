"""The verdicts as one HTML page, with nothing loaded from anywhere: to show to a colleague."""

from __future__ import annotations

import base64
import hashlib
import html
from typing import TYPE_CHECKING

from setpoint.verifying.reports.page_style import STYLE
from setpoint.verifying.reports.samples import sample_table
from setpoint.verifying.reports.text import shown_failures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from setpoint.verifying.difference import Difference
    from setpoint.verifying.verdict import Finding, Verdict

STATES = {"passed": "good", "failed": "bad", "noted": "noted"}


def page_report(verdicts: Sequence[Verdict]) -> str:
    """The page."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    # Nothing but this style: whatever a table holds, it is text.
    policy = f"default-src 'none'; style-src 'sha256-{digest}'"
    body = "".join(_body(verdicts))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>Can it be run twice?</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def _body(verdicts: Sequence[Verdict]) -> Iterator[str]:
    good = sum(verdict.idempotent and not verdict.fed_by for verdict in verdicts)
    many = len(verdicts) != 1
    yield "<h1>Can it be run twice?</h1>\n"
    runs = sum(verdict.runs for verdict in verdicts)
    counted = f"{good} of {len(verdicts)} are idempotent · " if many else ""
    yield f'<p class="lead">{counted}found out by {runs} real runs on copies or kept targets</p>\n'
    looks = {"bad": 0, "none": 1, "good": 2}
    for verdict in sorted(verdicts, key=lambda each: looks[_look(each)]):
        yield from _verdict(verdict)


def _look(verdict: Verdict) -> str:
    if verdict.error is not None:
        return "none"
    if not verdict.idempotent:
        return "bad"
    # Sound by itself, and still no better than what feeds it.
    return "none" if verdict.fed_by else "good"


def _verdict(verdict: Verdict) -> Iterator[str]:
    look = _look(verdict)
    yield f'<section class="card {look}">\n<span class="word {look}">{verdict.word}</span>\n'
    yield f"<h2>{_e(verdict.subject)}</h2>\n"
    facts = [*verdict.targets, verdict.window or "whole table", f"{verdict.runs} runs"]
    facts.append(f"{verdict.seconds:.1f} s")
    if verdict.at is not None:
        facts.append(verdict.at.strftime("%Y-%m-%d %H:%M UTC"))
    if verdict.fingerprint:
        facts.append(f"code {verdict.fingerprint}")
    yield f'<p class="facts">{_e(" · ".join(facts))}</p>\n'
    for note in verdict.notes:
        yield f"<p>{_e(note)}</p>\n"
    for name in verdict.fed_by:
        yield f"<p>Fed by <b>{_e(name)}</b>, which is not idempotent.</p>\n"
    if verdict.error is not None:
        yield f"<p>{_e(verdict.error)}</p>\n"
        if verdict.next_step:
            yield f"<dl><dt>Next</dt><dd>{_e(verdict.next_step)}</dd></dl>\n"
        yield "</section>\n"
        return
    for found in shown_failures(verdict):
        yield from _failure(found)
    yield "<h3>Checks</h3>\n"
    yield from _checks([found for found in verdict.findings if found.state in STATES])
    yield from _left_out([found for found in verdict.findings if found.state not in STATES])
    yield "</section>\n"


def _checks(made: Sequence[Finding]) -> Iterator[str]:
    yield '<table class="checks">\n'
    for found in made:
        yield (
            f'<tr><td class="state {STATES[found.state]}">{found.state}</td>'
            f'<td class="check">{_e(found.check)}</td><td>{_e(found.found)}'
            f'<span class="asked">{_e(found.question)}</span></td></tr>\n'
        )
    yield "</table>\n"


def _left_out(others: Sequence[Finding]) -> Iterator[str]:
    """The checks that were not made, those with one reason in one line."""
    reasons: dict[str, list[str]] = {}
    for found in others:
        reasons.setdefault(found.found, []).append(found.check)
    for reason, names in reasons.items():
        yield f'<p class="left">Left out, {_e(reason)}: {_e(", ".join(names))}</p>\n'


def _failure(found: Finding) -> Iterator[str]:
    yield f"<h3>{_e(found.question[0].upper() + found.question[1:])} No.</h3>\n"
    yield f"<p>{_e(found.found)}</p>\n"
    if found.difference is not None:
        yield from _samples(found.difference)
    if found.cause is not None:
        place = f"<code>{_e(found.cause.where)}</code>: " if found.cause.where else ""
        yield f"<dl><dt>Cause</dt><dd>{place}{_e(found.cause.words)}</dd>"
        look = ' class="code"' if "\n" in found.cause.fix else ""
        yield f"<dt>Fix</dt><dd{look}>{_e(found.cause.fix)}</dd></dl>\n"


def _samples(difference: Difference) -> Iterator[str]:
    table = sample_table(difference)
    if table is None:
        return
    heads = "".join(f"<th>{_e(name)}</th>" for name in table.columns)
    yield f'<div class="scroll"><table class="rows">\n<tr><th></th>{heads}</tr>\n'
    for sign, cells in table.lines:
        look = "before" if sign == "-" else "after"
        shown = "".join(
            f'<td class="mark">{_e(cell)}</td>' if name in table.marked else f"<td>{_e(cell)}</td>"
            for name, cell in zip(table.columns, cells, strict=True)
        )
        yield f'<tr class="{look}"><td>{sign}</td>{shown}</tr>\n'
    yield "</table></div>\n"


def _e(text: str) -> str:
    return html.escape(text, quote=True)
