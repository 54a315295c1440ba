from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.auditing.handmade import ORDERS, make_finding

from setpoint.auditing.baseline import baseline_text, compare, known_from, read_baseline
from setpoint.auditing.outcome import split_lines
from setpoint.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

PATH = "sql/orders.sql"
AUDITED = frozenset({PATH})


def test_moved_and_reindented_lines_stay_known() -> None:
    """Lines above a finding, and its own whitespace, do not make it new."""
    known = known_from([make_finding(line=2, end_line=3)], {PATH: split_lines(ORDERS)})
    moved = "-- one\n-- two\n" + ORDERS.replace("INSERT INTO", "   INSERT   INTO")
    found = [make_finding(line=4, end_line=5)]
    comparison = compare(found, {PATH: split_lines(moved)}, known, audited=AUDITED)
    assert comparison.known == tuple(found)
    assert not comparison.new
    assert not comparison.gone


def test_a_copy_of_a_known_line_is_new() -> None:
    """The second append of the same text counts."""
    lines = {PATH: ("INSERT INTO t SELECT 1;", "INSERT INTO t SELECT 1;")}
    known = known_from([make_finding(line=1)], lines)
    found = [make_finding(line=1), make_finding(line=2)]
    comparison = compare(found, lines, known, audited=AUDITED)
    assert comparison.new == (found[1],)


def test_another_rule_path_or_text_is_new() -> None:
    """A baseline excuses nothing but what it lists."""
    lines = {PATH: split_lines(ORDERS), "b.sql": split_lines(ORDERS)}
    known = known_from([make_finding(line=2)], lines)
    for other in (make_finding("T01"), make_finding(path="b.sql"), make_finding(line=5)):
        assert compare([other], lines, known, audited=AUDITED).new == (other,)


def test_entries_that_are_mended_are_told_only_for_audited_files() -> None:
    """A run on one file does not call the findings of other files gone."""
    lines = {PATH: split_lines(ORDERS)}
    known = known_from([make_finding(), make_finding(path="other.sql")], lines)
    assert [e.path for e in compare([], lines, known, audited=AUDITED).gone] == [PATH]


def test_the_file_is_stable_and_reads_back(tmp_path: Path) -> None:
    """The order of findings does not change the file, and it is valid JSON, empty or not."""
    findings = [make_finding(line=5), make_finding(line=2), make_finding("T01", line=5)]
    lines = {PATH: split_lines(ORDERS)}
    text = baseline_text(known_from(findings, lines))
    assert text == baseline_text(known_from(findings[::-1], lines))
    place = tmp_path / "baseline.json"
    place.write_text(text, encoding="utf-8")
    assert read_baseline(place) == known_from(findings, lines)
    assert json.loads(baseline_text([])) == {"version": 1, "findings": []}


@pytest.mark.parametrize("text", [None, "{", "[]", '{"version": 9, "findings": []}', '{"a": 1}'])
def test_a_file_that_is_no_baseline_is_a_wrong_use(tmp_path: Path, text: str | None) -> None:
    """The error says how to write one."""
    place = tmp_path / "baseline.json"
    if text is not None:
        place.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_baseline(place)
    assert "--write-baseline" in str(caught.value.next_step)
