"""The verdict on a task or a command: which checks passed, and what speaks against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from setpoint.verifying.check import NAMED

if TYPE_CHECKING:
    from datetime import datetime

    from setpoint.verifying.cause import Cause
    from setpoint.verifying.difference import Difference

State = Literal["passed", "failed", "noted", "left out"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The answer to one check."""

    check: str
    state: State
    found: str = ""
    """What was seen, in one line."""
    seconds: float = 0.0
    difference: Difference | None = None
    cause: Cause | None = None

    @property
    def question(self) -> str:
        """What the check asks."""
        return NAMED[self.check].question


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a verification found out about one task or command."""

    subject: str
    """The task's name, or the command."""
    targets: tuple[str, ...]
    findings: tuple[Finding, ...]
    fingerprint: str = ""
    window: str | None = None
    at: datetime | None = None
    seconds: float = 0.0
    runs: int = 0
    notes: tuple[str, ...] = ()
    error: str | None = None
    """Why there is no verdict: the task or command fails by itself."""
    next_step: str | None = None
    checksum: str | None = None
    fed_by: tuple[str, ...] = field(default=())
    """Tasks upstream that are not idempotent: this one is then no better than they are."""

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The checks that failed."""
        return tuple(finding for finding in self.findings if finding.state == "failed")

    @property
    def idempotent(self) -> bool:
        """Whether nothing speaks against it."""
        return self.error is None and not self.failures

    @property
    def word(self) -> str:
        """The verdict in a word or two."""
        if self.error is not None:
            return "no verdict"
        return "idempotent" if self.idempotent else "not idempotent"

    @property
    def main(self) -> Finding | None:
        """The failure that tells most: one with rows to show, the simplest experiment first."""
        shown = [finding for finding in self.failures if finding.difference is not None]
        return next(iter([*shown, *self.failures]), None)


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """The verdict as documented for `--output json`."""
    return {
        "subject": verdict.subject,
        "targets": list(verdict.targets),
        "verdict": verdict.word,
        "window": verdict.window,
        "fingerprint": verdict.fingerprint or None,
        "checksum": verdict.checksum,
        "at": verdict.at.isoformat() if verdict.at else None,
        "seconds": round(verdict.seconds, 3),
        "runs": verdict.runs,
        "error": verdict.error,
        "next_step": verdict.next_step,
        "fed_by": list(verdict.fed_by),
        "notes": list(verdict.notes),
        "checks": [_finding_document(finding) for finding in verdict.findings],
    }


def _finding_document(finding: Finding) -> dict[str, Any]:
    difference, cause = finding.difference, finding.cause
    return {
        "check": finding.check,
        "question": finding.question,
        "state": finding.state,
        "found": finding.found,
        "seconds": round(finding.seconds, 3),
        "difference": difference
        and {
            "table": difference.table,
            "kind": difference.kind,
            "words": difference.words,
            "rows_before": difference.before,
            "rows_after": difference.after,
            "columns": list(difference.columns),
            "samples": [
                {"before": _texts(sample.before), "after": _texts(sample.after)}
                for sample in difference.samples
            ],
        },
        "cause": cause
        and {"kind": cause.kind, "words": cause.words, "fix": cause.fix, "where": cause.where},
    }


def _texts(row: Any) -> Any:
    if row is None:
        return None
    plain = (bool, int, float, str, type(None))
    return {name: value if isinstance(value, plain) else str(value) for name, value in row.items()}
