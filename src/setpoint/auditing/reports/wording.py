"""Words that several outputs share."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from setpoint.auditing.finding import Severity

if TYPE_CHECKING:
    from setpoint.auditing.fleet import Fleet
    from setpoint.auditing.outcome import Outcome


def plural(count: int, word: str, many: str | None = None) -> str:
    """`1 error`, `2 errors`, `1,200 errors`."""
    return f"{count:,} {word if count == 1 else many or word + 's'}"


def visible(text: str) -> str:
    """Text without control characters: what a file says must not steer the reader's terminal."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(letter) in _UNSEEN else letter
        for letter in text.replace("\t", "    ")
    )


# Control and format characters (escape sequences, text that runs backwards) and lone surrogates.
_UNSEEN = frozenset({"Cc", "Cf", "Cs"})


def severity_counts(fleet: Fleet) -> str:
    """`3 errors, 1 warning`, worst first."""
    parts = [
        plural(fleet.severities[severity], severity.value)
        for severity in Severity
        if fleet.severities.get(severity)
    ]
    return ", ".join(parts) or "none"


def skipped_words(outcome: Outcome) -> str:
    """`3 ignored by git, 1 symbolic links`, largest first."""
    ordered = sorted(outcome.skipped.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {reason}" for reason, count in ordered if count)


def next_step(outcome: Outcome, fleet: Fleet) -> str:
    """The one thing to type next."""
    findings = outcome.report.findings
    many = 25
    if not outcome.report.files and not outcome.report.unparsed:
        return "setpoint audit PATH, where the PATH holds .sql, .py or .ipynb files"
    if any(finding.edits for finding in findings):
        return f"setpoint audit {outcome.asked} --diff"
    if len(findings) > many and not outcome.known:
        return f"setpoint audit {outcome.asked} --baseline setpoint-baseline.json --write-baseline"
    if fleet.kinds:
        return f"setpoint audit --explain-rule {fleet.kinds[0].rule}"
    if outcome.gone:
        return f"setpoint audit {outcome.asked} --baseline FILE --write-baseline"
    return f"setpoint audit {outcome.asked} --output html --output-file fleet.html"
