"""The JSON output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from setpoint.auditing.fingerprint import fingerprints

if TYPE_CHECKING:
    from setpoint.auditing.finding import Finding, Pipeline, Unparsed
    from setpoint.auditing.outcome import Outcome


def json_text(outcome: Outcome) -> str:
    """The outcome as a JSON document with a stable order, an entry a line.

    Laid out by hand: the encoder's own indentation is written in Python, and slow for thousands.
    """
    parts = [f'  "{name}": {_laid_out(value)}' for name, value in document(outcome).items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _laid_out(value: object) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value, ensure_ascii=False)
    entries = ",\n    ".join(json.dumps(entry, ensure_ascii=False) for entry in value)
    return f"[\n    {entries}\n  ]"


def document(outcome: Outcome) -> dict[str, Any]:
    """The outcome as plain data."""
    report = outcome.report
    marks = fingerprints(report.findings, outcome.lines)
    return {
        "findings": [
            _finding(finding) | {"fixable": bool(finding.edits), "fingerprint": mark}
            for finding, mark in zip(report.findings, marks, strict=True)
        ],
        "pipelines": [_pipeline(pipeline) for pipeline in report.pipelines],
        "unparsed": [_unparsed(item) for item in report.unparsed],
        "files": report.files,
        "skipped": dict(sorted(outcome.skipped.items())),
        "known": len(outcome.known),
        "excused": [_finding(one.finding) | {"reason": one.reason} for one in report.excused],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "path": finding.path,
        "line": finding.line,
        "end_line": finding.end_line,
        "message": finding.message,
        "fix": finding.fix,
        "pipeline": finding.pipeline,
    }


def _pipeline(pipeline: Pipeline) -> dict[str, Any]:
    return {
        "name": pipeline.name,
        "kind": pipeline.kind,
        "path": pipeline.path,
        "line": pipeline.line,
        "verdict": pipeline.verdict.value,
        "owner": pipeline.owner,
        "reads": list(pipeline.reads),
        "writes": list(pipeline.writes),
    }


def _unparsed(item: Unparsed) -> dict[str, Any]:
    return {"path": item.path, "line": item.line, "reason": item.reason}
