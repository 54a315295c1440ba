"""`setpoint effects`: what a person sees, decides and sends, without Spark."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.effects.receivers import Fault, HttpReceiver

from setpoint.effects.sender import this_sender
from setpoint.ledger.instant import utc_now
from setpoint.ledger.outbox import Selection, Skip
from setpoint.ledger.sqlite import SqliteLedger
from setpoint.model.letter import Occasion, letters
from setpoint.model.receiver import call, http

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Shell

    from setpoint.model.effect import Effect


@pytest.fixture
def web() -> Iterator[HttpReceiver]:
    """A receiver that drops no repeats."""
    receiver = HttpReceiver(honours_keys=False)
    yield receiver
    receiver.close()


@pytest.fixture
def ledger(shell: Shell) -> Iterator[SqliteLedger]:
    """The project's ledger."""
    path = shell.folder.root / ".setpoint" / "ledger.db"
    path.parent.mkdir()
    with SqliteLedger(path) as opened:
        yield opened


def told(web: HttpReceiver, **changes: Any) -> Effect:
    """A call without a key."""
    given = {"url": web.url, "each": "id", "key_header": None, "allow": ["private", "http"]}
    return http("told", **(given | changes))


def record(ledger: SqliteLedger, effect: Effect, *rows: dict[str, Any]) -> None:
    """Lay messages into the outbox."""
    occasion = Occasion(task="orders", window=None, recorded_at=utc_now())
    ledger.outbox.offer(letters(effect, rows, occasion))


def dead_sender(ledger: SqliteLedger) -> None:
    """Let a process take what is due, and die."""
    gone = replace(this_sender(), born="1")
    ledger.outbox.take(Selection(), gone, 10)


def test_pending_is_listed_and_sent(shell: Shell, ledger: SqliteLedger, web: HttpReceiver) -> None:
    """`list` shows it with the next command, `send` sends it, once."""
    record(ledger, told(web), {"id": 1}, {"id": 2})
    shown = shell.type("effects", "list")
    assert "pending" in shown.out
    assert "next: setpoint effects send" in shown.out
    assert "pending" in shell.type("status").out
    sent = shell.type("effects", "send")
    assert (sent.code, sent.out.strip()) == (0, "2 sent")
    assert shell.type("effects", "send").out.strip() == "nothing to send"
    assert len(web.requests) == 2
    assert "effect key" not in shell.type("status").out


def test_what_died_in_the_middle_is_unknown_before_anybody_has_marked_it(
    shell: Shell, ledger: SqliteLedger, web: HttpReceiver
) -> None:
    """`status` and `list --state unknown` read only, and show it; `send` does not send it."""
    record(ledger, told(web), {"id": 1})
    dead_sender(ledger)
    for words in (["effects", "list", "--state", "unknown"], ["status"]):
        shown = shell.type(*words).out
        assert "unknown" in shown
        assert "setpoint effects resolve" in shown
    answer = shell.type("effects", "send")
    assert answer.code == 1
    assert web.requests == []


@pytest.mark.parametrize(("decision", "requests"), [("--sent", 0), ("--resend", 1)])
def test_a_person_decides_about_an_unknown_one(
    shell: Shell, ledger: SqliteLedger, web: HttpReceiver, decision: str, requests: int
) -> None:
    """`resolve KEY --sent` marks it, `--resend` sends it; either way it is sent after that."""
    record(ledger, told(web), {"id": 1})
    dead_sender(ledger)
    listed = json.loads(shell.type("effects", "list", "--output", "json").out)["effects"]
    (effect,) = listed
    assert effect["state"] == "unknown"
    answer = shell.type("effects", "resolve", effect["key"][:12], decision)
    assert (answer.code, answer.out.strip()) == (0, "told of orders: sent")
    assert len(web.requests) == requests
    assert ledger.outbox.tallies()[0].state == "sent"


def test_failed_ones_are_tried_again_when_asked(
    shell: Shell, ledger: SqliteLedger, web: HttpReceiver
) -> None:
    """`send --failed` after the receiver was put right."""
    record(ledger, told(web), {"id": 1})
    web.ahead = [Fault(status=400, body="no")]
    answer = shell.type("effects", "send")
    assert answer.code == 1
    assert "next: setpoint effects send --failed" in answer.out
    assert "HTTP 400" in shell.type("status").out
    assert shell.type("effects", "send", "--failed").code == 0


def test_a_function_is_found_in_the_project_or_told_to_be_missing(
    shell: Shell, ledger: SqliteLedger
) -> None:
    """Task files are read only when a message needs one of their functions."""
    record(ledger, call("rung", print, each="id"), {"id": 1})
    answer = shell.type("effects", "send")
    assert answer.code == 1
    assert "calls a function that the project does not have" in answer.out
    shell.folder.write(
        "pipelines/orders.py",
        """
        from pathlib import Path
        from setpoint import call, overwrite, task

        def ring(values, key):
            Path("bell.txt").write_text(f"{values['id']} {key}")

        @task(target="lake.shop.orders", grain="day", write=overwrite(by="day"),
              effects=[call("rung", ring, each="id")])
        def orders():
            return None
        """,
    )
    assert shell.type("effects", "send").code == 0
    assert (shell.folder.root / "bell.txt").read_text().startswith("1 ")


def test_skipped_windows_are_listed(shell: Shell, ledger: SqliteLedger) -> None:
    """A skip is recorded, and the list says how to send it after all."""
    skip = Skip(task="orders", window_start=None, window_end=None, effect="told", at=utc_now())
    ledger.outbox.skip([skip])
    shown = shell.type("effects", "list", "--state", "skipped").out
    assert "told" in shown
    assert "--effects send" in shown


def test_wrong_use_is_told(shell: Shell, ledger: SqliteLedger, web: HttpReceiver) -> None:
    """A key that is not there, too short, or without a decision."""
    record(ledger, told(web), {"id": 1})
    key = ledger.outbox.deliveries()[0].key
    for words in (["ffffffffff", "--sent"], ["ab", "--sent"], [key]):
        answer = shell.type("effects", "resolve", *words)
        assert answer.code == 2
        assert "next:" in answer.err


def test_changed_ones_are_listed(shell: Shell, ledger: SqliteLedger, web: HttpReceiver) -> None:
    """`--state changed` lists what a later run would say otherwise."""
    record(ledger, told(web), {"id": 1, "amount": 1})
    shell.type("effects", "send")
    record(ledger, told(web), {"id": 1, "amount": 2})
    shown = shell.type("effects", "list", "--state", "changed").out
    assert "sent, changed since" in shown
    assert "--resend" in shown
