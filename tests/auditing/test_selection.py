from __future__ import annotations

import pytest
from tests.auditing.handmade import RULES

from setpoint.auditing.selection import selected_rules
from setpoint.errors import UsageError

ALL = list(RULES.values())


def test_rules_are_named_by_id_beginning_or_name() -> None:
    """Select keeps what it names, ignore takes away, both take lists."""
    assert selected_rules(ALL) == {"W01", "T01", "X01", "I01"}
    assert selected_rules(ALL, select=["w01,T"]) == {"W01", "T01"}
    assert selected_rules(ALL, select=["unguarded-mail"]) == {"X01"}
    assert selected_rules(ALL, ignore=["X", "I01"]) == {"W01", "T01"}
    assert selected_rules(ALL, select=["W", "T"], ignore=["T01"]) == {"W01"}


@pytest.mark.parametrize(
    ("word", "meant"), [("W1", "W01"), ("W0l", "W01"), ("unguarded-apend", "W01")]
)
def test_an_unknown_rule_is_a_wrong_use_with_a_suggestion(word: str, meant: str) -> None:
    """A slip of the keyboard is answered with what was probably meant."""
    with pytest.raises(UsageError, match=f"Did you mean {meant}"):
        selected_rules(ALL, select=[word])
