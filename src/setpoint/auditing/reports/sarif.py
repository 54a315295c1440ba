"""The SARIF 2.1.0 output, for code-scanning tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from setpoint.auditing.fingerprint import fingerprints
from setpoint.version import __version__

if TYPE_CHECKING:
    from setpoint.auditing.finding import Edit, Finding, Unparsed
    from setpoint.auditing.outcome import Outcome
    from setpoint.auditing.rule import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"


def sarif_text(outcome: Outcome) -> str:
    """The outcome as a SARIF log."""
    return json.dumps(sarif_log(outcome), indent=2, ensure_ascii=False) + "\n"


def sarif_log(outcome: Outcome) -> dict[str, Any]:
    """The outcome as a SARIF log, as plain data."""
    rules = [outcome.rules[rule] for rule in sorted(outcome.rules)]
    numbers = {rule.id: number for number, rule in enumerate(rules)}
    # Numbered together, so that a known finding and its new copy get different fingerprints.
    excused = {one.finding: one.reason for one in outcome.report.excused}
    everything = sorted(
        [*outcome.report.findings, *outcome.known, *excused],
        key=lambda f: (f.path, f.line, f.rule),
    )
    known = set(outcome.known)
    marks = fingerprints(everything, outcome.lines)
    results = [
        _result(finding, mark, numbers)
        | (_excuse(excused[finding]) if finding in excused else _standing(finding, known, outcome))
        for finding, mark in zip(everything, marks, strict=True)
    ]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "setpoint",
                        "semanticVersion": __version__,
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {
                    _ROOT: {"description": {"text": "The audited root."}},
                },
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            _notification(item) for item in outcome.report.unparsed
                        ],
                    }
                ],
                "results": results,
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    language, before = _example(rule.before)
    _, after = _example(rule.after)
    markdown = (
        f"{rule.what}\n\n**Why it matters.** {rule.why}\n\n"
        f"**Before**\n```{language}\n{before}\n```\n\n"
        f"**After**\n```{language}\n{after}\n```\n\n"
        f"**When to let it be.** {rule.ignore_when}\n"
    )
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.name.replace("-", " ").capitalize()},
        "fullDescription": {"text": rule.what},
        "help": {"text": f"{rule.what}\n\n{rule.why}", "markdown": markdown},
        "defaultConfiguration": {"level": rule.severity.value},
        "properties": {"tags": ["idempotency", "data-pipelines"], "precision": "high"},
    }


def _example(text: str) -> tuple[str, str]:
    language, _, code = text.strip("\n").partition("\n")
    return language.strip(), code


def _result(finding: Finding, mark: str, numbers: dict[str, int]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": finding.severity.value,
        "message": {"text": f"{finding.message}\nFix: {finding.fix}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(finding.path),
                    "region": {
                        "startLine": max(finding.line, 1),
                        "endLine": max(finding.end_line, finding.line, 1),
                    },
                },
                **_logical(finding),
            }
        ],
        "partialFingerprints": {"setpointSpot/v1": mark},
    }
    if finding.rule in numbers:
        result["ruleIndex"] = numbers[finding.rule]
    if finding.edits:
        result["fixes"] = [_fix(finding)]
    return result


def _logical(finding: Finding) -> dict[str, Any]:
    """The pipeline as a logical location; a comment of nobody has none."""
    if not finding.pipeline:
        return {}
    return {"logicalLocations": [{"name": finding.pipeline, "kind": "module"}]}


def _excuse(reason: str) -> dict[str, Any]:
    """An exception in writing, with its reason."""
    return {"suppressions": [{"kind": "inSource", "justification": reason or "No reason given."}]}


def _standing(finding: Finding, known: set[Finding], outcome: Outcome) -> dict[str, Any]:
    """Whether a baseline knows the finding; without one there is nothing to say."""
    if finding in known:
        return {
            "baselineState": "unchanged",
            "suppressions": [{"kind": "external", "justification": "In the baseline."}],
        }
    return {"baselineState": "new"} if outcome.known else {}


def _fix(finding: Finding) -> dict[str, Any]:
    return {
        "description": {"text": finding.fix},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(finding.path),
                "replacements": [_replacement(edit) for edit in finding.edits],
            }
        ],
    }


def _replacement(edit: Edit) -> dict[str, Any]:
    return {
        "deletedRegion": {"charOffset": edit.start, "charLength": edit.end - edit.start},
        "insertedContent": {"text": edit.text},
    }


def _artifact(path: str) -> dict[str, str]:
    # A colon in the first part would read as a scheme, hence quoted too.
    return {"uri": quote(path, safe="/", errors="surrogatepass"), "uriBaseId": _ROOT}


def _notification(item: Unparsed) -> dict[str, Any]:
    return {
        "level": "warning",
        "message": {"text": f"{item.path} could not be read: {item.reason}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(item.path),
                    "region": {"startLine": max(item.line, 1)},
                }
            }
        ],
    }
