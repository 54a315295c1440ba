"""Automatic retries only for what is known to be idempotent."""

from __future__ import annotations

import pytest

from setpoint.model.hidden_input import Allow
from setpoint.model.retry_safety import Proof, unsafe_to_retry


@pytest.mark.parametrize(
    ("functions", "kind", "words"),
    [
        ((), "iceberg", []),
        (("collect_list",), "iceberg", []),
        (("rand",), "iceberg", ["rand"]),
        (("current_timestamp", "uuid"), "postgres", ["current_timestamp", "uuid"]),
        ((), "parquet", ["not one step"]),
    ],
)
def test_what_a_second_attempt_may_not_repeat_is_named(
    functions: tuple[str, ...], kind: str, words: list[str]
) -> None:
    """F2: each reason with its fix."""
    found = unsafe_to_retry("orders", allow=[Allow(name, "meant") for name in functions], kind=kind)
    assert len(found) == len(words)
    assert all(word in unsafe.reason for word, unsafe in zip(words, found, strict=True))
    assert all(unsafe.fix for unsafe in found)


ALL = ("plan", "two", "crash", "clock", "effects")
RAND = [Allow("rand", "salts a join")]


@pytest.mark.parametrize(
    ("kind", "allow", "unguarded", "checks"),
    [
        ("iceberg", RAND, (), ("two", "crash", "clock")),
        ("iceberg", (), ("a mail",), ("two", "crash", "effects")),
        ("parquet", (), (), ("two", "crash")),
    ],
)
def test_a_proof_takes_away_the_doubts_that_its_checks_cover(
    kind: str, allow: list[Allow], unguarded: tuple[str, ...], checks: tuple[str, ...]
) -> None:
    """One check less, and the doubt stands; the fix names it and the command."""
    whole = Proof(idempotent=True, checks=checks)
    assert unsafe_to_retry("t", allow=allow, kind=kind, unguarded=unguarded, proof=whole) == ()
    for left_out in checks:
        made = tuple(name for name in checks if name != left_out)
        proof = Proof(idempotent=True, checks=made)
        (unsafe,) = unsafe_to_retry("t", allow=allow, kind=kind, unguarded=unguarded, proof=proof)
        assert f"verify left out {left_out}: setpoint verify t" in unsafe.fix
    (unproven,) = unsafe_to_retry("t", allow=allow, kind=kind, unguarded=unguarded)
    assert "prove that it is harmless: setpoint verify t" in unproven.fix


def test_a_proof_against_a_task_forbids_retries_whatever_it_declares() -> None:
    """The verdict is the reason, and the next command proves the mended code."""
    against = Proof(idempotent=False, checks=ALL, failed=("two", "ten"), cause="rows are added")
    (unsafe,) = unsafe_to_retry("orders", allow=(), kind="iceberg", proof=against)
    assert "not idempotent (two, ten: rows are added)" in unsafe.reason
    assert "setpoint verify orders" in unsafe.fix
    doubted = unsafe_to_retry("orders", allow=RAND, kind="parquet", proof=against)
    assert doubted == (unsafe,), "a doubt beside a proof says nothing more"
