"""How reports are held against labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.audit.quality import Case, Hit, Spot, Tally, judge, read_cases

FINDING = Spot(path="a.sql", line=10, end_line=12, also_lines=(30,), rules=("W01",), why="-")
QUIET = Spot(path="a.sql", line=14, end_line=14, also_lines=(), rules=("W01",), why="-")
CASE = Case(
    name="001-a",
    folder=Path("001-a"),
    origin="-",
    about="-",
    held_out=False,
    findings=(FINDING,),
    quiets=(),
    tolerated=(),
)


def hit(line: int, rule: str = "W01", severity: str = "error") -> Hit:
    """A report in the case's one file."""
    return Hit(rule=rule, severity=severity, path="a.sql", line=line, message="-")


@pytest.mark.parametrize("line", [8, 10, 11, 14, 29, 32])
def test_a_hit_in_or_near_the_statement_counts(line: int) -> None:
    """Two lines beside the statement, or beside another fair place, are near enough."""
    score = judge(CASE, [hit(line)])
    assert (len(score.found), len(score.false_alarms)) == (1, 0)


@pytest.mark.parametrize("report", [hit(7), hit(15), hit(10, rule="W02")])
def test_a_hit_elsewhere_is_a_miss_and_a_false_alarm(report: Hit) -> None:
    """Too far off, or of another rule."""
    score = judge(CASE, [report])
    assert (len(score.missed), len(score.false_alarms)) == (1, 1)


def test_a_hit_nearer_to_a_quiet_spot_is_a_false_alarm() -> None:
    """A finding close by does not excuse a report of what is quiet."""
    score = judge(replace(CASE, quiets=(QUIET,)), [hit(14)])
    assert (len(score.missed), len(score.false_alarms)) == (1, 1)


def test_one_hit_does_not_stand_for_two_findings() -> None:
    """Neighbouring findings each need a hit of their own."""
    twin = replace(FINDING, line=14, end_line=14, also_lines=())
    case = replace(CASE, findings=(FINDING, twin))
    assert len(judge(case, [hit(12)]).missed) == 1
    assert not judge(case, [hit(12), hit(13)]).missed


def test_notes_and_tolerated_hits_are_never_false_alarms() -> None:
    """A note may be given anywhere; a tolerated error too."""
    case = replace(CASE, tolerated=(replace(QUIET, line=50, end_line=50),))
    assert not judge(case, [hit(90, severity="note"), hit(50)]).false_alarms


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case.name)
def test_an_audit_that_repeats_the_labels_scores_full_marks(case: Case) -> None:
    """No label hides another: reporting exactly the findings gives no miss and no false alarm."""
    reports = [
        Hit(rule=spot.rules[0], severity="error", path=spot.path, line=spot.line, message="-")
        for spot in case.findings
    ]
    score = judge(case, reports)
    assert not score.missed
    assert not score.false_alarms


def test_an_audit_that_reports_nothing_finds_nothing() -> None:
    """Recall is nil, precision is not hurt."""
    tally = Tally()
    for case in read_cases():
        tally.add(judge(case, []))
    assert tally.recall() == 0
    assert tally.precision() == 1
