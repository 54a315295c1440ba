"""Verdicts of `verify` in every ledger."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from setpoint.errors import LedgerError
from setpoint.ledger.memory import MemoryLedger
from setpoint.ledger.sqlite import SqliteLedger
from setpoint.ledger.verification import Verification

if TYPE_CHECKING:
    from pathlib import Path

    from setpoint.ledger.protocol import Ledger

AT = datetime(2026, 4, 26, 3, 0, tzinfo=timezone.utc)


def verdict(code: str = "code-1", *, task: str = "orders", good: bool = True) -> Verification:
    """A verdict on some code."""
    return Verification(
        task=task,
        fingerprint=code,
        idempotent=good,
        at=AT,
        window="2026-04-25",
        checks=("two", "crash"),
        failed=() if good else ("two",),
        cause=None if good else "now in column loaded_at",
        seconds=1.5,
    )


def test_a_verdict_holds_for_the_code_it_was_reached_on(ledger: Ledger) -> None:
    """The same task with other code is not verified."""
    ledger.verifications.put(verdict("code-1"))
    assert ledger.verifications.of("orders", "code-1") == verdict("code-1")
    assert ledger.verifications.of("orders", "code-2") is None
    assert ledger.verifications.of("customers", "code-1") is None


def test_a_newer_verdict_on_the_same_code_replaces_the_older(ledger: Ledger) -> None:
    """What was found last is what counts."""
    ledger.verifications.put(verdict(good=True))
    ledger.verifications.put(verdict(good=False))
    found = ledger.verifications.of("orders", "code-1")
    assert found == verdict(good=False)
    assert found.words == "not idempotent: now in column loaded_at"
    assert verdict().words == "verified on this code"


def test_all_verdicts_by_task_newest_first(ledger: Ledger) -> None:
    """As a contract or a page lists them."""
    older, newer = verdict("code-1"), verdict("code-2")
    newer = Verification(**{**vars(newer), "at": AT + timedelta(hours=1)})
    other = verdict(task="customers")
    for each in (older, newer, other):
        ledger.verifications.put(each)
    assert ledger.verifications.all() == [other, newer, older]


def test_a_ledger_for_reading_keeps_no_verdict(tmp_path: Path) -> None:
    """Reading changes nothing, in memory and on disk."""
    SqliteLedger(tmp_path / "ledger.db").close()
    with SqliteLedger(tmp_path / "ledger.db", readonly=True) as ledger:
        assert ledger.verifications.all() == []
        with pytest.raises(LedgerError, match="reading only"):
            ledger.verifications.put(verdict())
    with pytest.raises(LedgerError, match="reading only"):
        MemoryLedger(readonly=True).verifications.put(verdict())
