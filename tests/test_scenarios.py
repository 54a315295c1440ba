"""Every scenario has a test that says so.

A test names its scenarios in its name (`test_scenario_25_26_…`) or at the head of its docstring
("Scenario 14: …", "A5, scenarios 24 and 28: …").
"""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
HELD = range(1, 45)
IN_NAME = re.compile(r"scenarios?((?:_(?:and_)?\d+)+)_")
IN_WORDS = re.compile(r"[Ss]cenarios? (\d+(?:(?:, | and )\d+)*)")


def scenarios_of(name: str, words: str) -> set[int]:
    """The numbers that a test's name and docstring speak of."""
    found = [*IN_NAME.findall(name), *IN_WORDS.findall(words)]
    return {int(number) for text in found for number in re.findall(r"\d+", text)}


@functools.cache
def by_scenario() -> dict[int, list[str]]:
    """The tests of each scenario, as `file::test`."""
    found: dict[int, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for number in sorted(scenarios_of(node.name, ast.get_docstring(node) or "")):
                    found[number].append(f"{path.relative_to(TESTS)}::{node.name}")
    return found


@pytest.mark.parametrize("number", HELD)
def test_every_scenario_has_a_test(number: int) -> None:
    """None is lost when tests are moved or renamed."""
    assert by_scenario()[number]


def test_numbers_are_read_from_names_and_words() -> None:
    """Several in one, in either place; other numbers are none."""
    assert scenarios_of("test_scenario_25_26_a_gate_of_3", "C4: 7 rows.") == {25, 26}
    assert scenarios_of("test_scenarios_2_and_3_a_file", "7 of them.") == {2, 3}
    assert scenarios_of("test_a_day", "A5, scenarios 24, 25 and 28: 9 days.") == {24, 25, 28}
    assert scenarios_of("test_a_day", "Scenario 14: 2 of them.") == {14}
    assert scenarios_of("test_2_days", "A1: ten runs.") == set()
