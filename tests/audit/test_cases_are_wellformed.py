"""The labels of the audit's cases hold together, whatever the audit says."""

from __future__ import annotations

import pytest
from tests.audit.quality import CASES, Case, Spot, read_cases

RULES = {
    *(f"W0{n}" for n in range(1, 10)),
    *(f"T0{n}" for n in range(1, 6)),
    *(f"R0{n}" for n in range(1, 5)),
    "E01",
    *(f"X0{n}" for n in range(1, 5)),
    "S01",
    "S02",
    "I01",
    "I02",
}
ALL = read_cases()


def spots_of(case: Case) -> list[Spot]:
    """Every label of a case."""
    return [*case.findings, *case.quiets, *case.tolerated]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_labels_point_at_lines_that_exist(case: Case) -> None:
    """A label names a file of the case, a line with text in it and rules that are known."""
    assert spots_of(case)
    for spot in spots_of(case):
        lines = (case.folder / spot.path).read_text(encoding="utf-8").splitlines()
        assert 1 <= spot.line <= spot.end_line <= len(lines), spot
        assert all(1 <= line <= len(lines) for line in spot.also_lines), spot
        assert lines[spot.line - 1].strip(), spot
        assert set(spot.rules) <= RULES, spot
        assert spot.why.strip(), spot
    assert all(spot.rules for spot in case.findings)
    assert case.origin.strip()
    assert case.about.strip()


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_no_label_contradicts_another(case: Case) -> None:
    """The same line is never both a finding and quiet for one rule."""
    for finding in case.findings:
        for quiet in case.quiets:
            same_place = (finding.path, finding.line) == (quiet.path, quiet.line)
            shared = set(finding.rules) & set(quiet.rules or RULES)
            assert not (same_place and shared), (finding, quiet)


def test_every_case_has_a_number_of_its_own() -> None:
    """Numbers are unique, and every folder of cases has labels."""
    folders = [path for path in CASES.iterdir() if path.is_dir()]
    numbers = [case.name.split("-")[0] for case in ALL]
    assert len(folders) == len(ALL)
    assert len(set(numbers)) == len(numbers)


def test_there_are_enough_labels_to_judge_by() -> None:
    """At least 320 spots, 140 of them quiet, and a held-out part of about a third."""
    findings = sum(len(case.findings) for case in ALL)
    quiets = sum(len(case.quiets) for case in ALL)
    held_out = sum(len(case.findings) + len(case.quiets) for case in ALL if case.held_out)
    assert findings + quiets >= 320
    assert quiets >= 140
    assert 0.25 < held_out / (findings + quiets) < 0.42


@pytest.mark.parametrize("rule", sorted(RULES - {"I01", "I02"}))
def test_each_rule_has_examples_of_both_kinds(rule: str) -> None:
    """Six findings of a rule, and four quiet look-alikes; a note (T05) is never a false alarm."""
    findings = [spot for case in ALL for spot in case.findings if spot.rules[0] == rule]
    quiets = [spot for case in ALL for spot in case.quiets if rule in spot.rules]
    assert len(findings) >= 6
    assert len(quiets) >= 4 or rule == "T05"
