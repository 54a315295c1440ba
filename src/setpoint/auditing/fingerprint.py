"""A name for a finding that survives when lines move."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setpoint.auditing.finding import Finding

# A finding on a whole model must not become new with each edit far below its head.
_LINES = 5


def spot(finding: Finding, lines: Mapping[str, Sequence[str]]) -> str:
    """The text of the finding's first lines, with whitespace evened out."""
    first = finding.line - 1
    last = min(finding.end_line, finding.line + _LINES - 1)
    text = " ".join(" ".join(lines.get(finding.path, ())[first:last]).split())
    return text or finding.message


def fingerprints(
    findings: Sequence[Finding], lines: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """One fingerprint a finding, in the same order.

    The same rule on the same text of the same file is told apart by its count, so that a copy of a
    known line is new.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    made = []
    for finding in findings:
        same = (finding.rule, finding.path, spot(finding, lines))
        seen[same] += 1
        digest = hashlib.sha256("\0".join((*same, str(seen[same]))).encode("utf-8", "replace"))
        made.append(digest.hexdigest()[:32])
    return tuple(made)
