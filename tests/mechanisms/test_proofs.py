"""The table of proofs is whole, and names what is there. `make mechanisms` carries it out."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from tests.mechanisms.proofs import PROOFS, SCENARIOS, Proof
from tests.mechanisms.switches import SWITCHES
from tests.test_scenarios import by_scenario


def test_every_scenario_of_death_and_meeting_is_proved() -> None:
    """None is without a test that was seen to fail."""
    assert {proof.scenario for proof in PROOFS} == set(SCENARIOS)


def test_every_switch_is_used() -> None:
    """No mechanism is listed that no test is seen to need."""
    assert {proof.switch for proof in PROOFS} == set(SWITCHES)


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: f"{proof.scenario}-{proof.switch}")
def test_a_proof_names_a_test_of_its_scenario(proof: Proof) -> None:
    """The test is there, and says the scenario's number."""
    assert proof.test.partition("[")[0] in by_scenario()[proof.scenario]


@pytest.mark.parametrize("name", SWITCHES)
def test_what_a_switch_replaces_is_there(name: str) -> None:
    """A function that was renamed must not leave a switch that switches nothing."""
    switch = SWITCHES[name]
    found: Any = importlib.import_module(switch.module)
    for part in switch.name.split("."):
        assert part in vars(found)
        found = getattr(found, part)
    assert switch.instead(found) is not found
