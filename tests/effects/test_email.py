"""E-mail: once for each key; a server that fell silent after the message is held for a person."""

from __future__ import annotations

from email import message_from_bytes
from typing import TYPE_CHECKING, Any

import pytest
from tests.effects.conftest import AT_ONCE, Desk

from setpoint.errors import EffectFault
from setpoint.model.receiver import email

if TYPE_CHECKING:
    from tests.effects.receivers import MailReceiver

    from setpoint.model.effect import Effect


def report(server: str, **changes: Any) -> Effect:
    """A mail to the warehouse."""
    given: dict[str, Any] = {
        "server": server,
        "sender": "Pipelines <pipelines@shop.example>",
        "to": "warehouse@shop.example",
        "subject": "Inventory: {rows} adjustments",
        "text": "Booked.\n.and taken off the stock.\n",
        "tls": "none",
        "timeout": 2,
        "backoff": AT_ONCE,
    }
    return email("report", **(given | changes))


def test_a_mail_arrives_once_with_an_id_made_of_its_key(desk: Desk, post: MailReceiver) -> None:
    """However often it is offered; the Message-ID is the key, so that it can be found again."""
    for _ in range(3):
        desk.do(report(post.server), {"sku": "a"}, {"sku": "b"})
    (raw,) = post.mail
    mail = message_from_bytes(raw)
    assert mail["Subject"] == "Inventory: 2 adjustments"
    assert mail["Message-ID"] == f"<{desk.only().key}@shop.example>"
    assert ".and taken off" in mail.get_payload()
    assert post.recipients == [["warehouse@shop.example"]]


def test_scenario_38_a_4xx_is_tried_again(desk: Desk, post: MailReceiver) -> None:
    """The server says that it did not take the message: no harm in another try."""
    post.ahead = ["451 try later", "450 busy"]
    assert desk.do(report(post.server), {"sku": "a"}).counts == {"retried": 2, "sent": 1}
    assert len(post.mail) == 1


def test_scenario_38_a_5xx_is_not_tried_again(desk: Desk, post: MailReceiver) -> None:
    """The server has said no for good."""
    post.ahead = ["554 no"]
    assert desk.do(report(post.server), {"sku": "a"}).counts == {"failed": 1}
    assert post.mail == []
    assert "SMTP 554" in (desk.only().error or "")


@pytest.mark.parametrize("silence", ["hang", "drop"])
def test_scenario_38_a_server_that_falls_silent_after_data_is_held_for_a_person(
    desk: Desk, post: MailReceiver, silence: str
) -> None:
    """It may have been delivered, and here it was: a rerun must not deliver it twice."""
    post.ahead = [silence]
    effect = report(post.server, timeout=0.5)
    assert desk.do(effect, {"sku": "a"}).counts == {"unknown": 1}
    desk.do(effect, {"sku": "a"})
    assert len(post.mail) == 1
    assert desk.only().state == "unknown"


def test_one_refused_recipient_keeps_the_whole_mail_back(desk: Desk, post: MailReceiver) -> None:
    """All or none: half of a message cannot be sent again."""
    post.refuse = {"gone@shop.example": "550 no such user"}
    effect = report(post.server, to=["warehouse@shop.example", "gone@shop.example"])
    assert desk.do(effect, {"sku": "a"}).counts == {"failed": 1}
    assert post.mail == []


def test_a_server_that_is_away_is_tried_again(desk: Desk, post: MailReceiver) -> None:
    """Nothing was said yet, so nothing arrived."""
    post.close()
    sent = desk.do(report(post.server, retries=1), {"sku": "a"})
    assert sent.counts == {"retried": 1, "failed": 1}


def test_a_server_without_tls_is_not_spoken_to(desk: Desk, post: MailReceiver) -> None:
    """`starttls` is the default, and it is not given up quietly."""
    assert desk.do(report(post.server, tls="starttls"), {"sku": "a"}).counts == {"failed": 1}
    assert post.mail == []


@pytest.mark.parametrize("address", ["zoë@shop.example", "nobody", "", "a@b.example, nobody"])
def test_an_address_that_cannot_be_written_to_is_refused_and_not_unknown(
    desk: Desk, post: MailReceiver, address: str
) -> None:
    """It is certain that nothing was sent: no person has to find out."""
    assert desk.do(report(post.server, to=address), {"sku": "a"}).counts == {"failed": 1}
    assert post.mail == []


@pytest.mark.parametrize(
    ("part", "row"),
    [
        ("subject", "Stock\r\nBcc: everyone@shop.example"),
        ("to", "a@shop.example\nBcc: b@shop.example"),
        ("to", "a@shop.example\x00"),
    ],
)
def test_scenario_41_a_line_break_in_a_mail_header_is_refused(
    desk: Desk, post: MailReceiver, part: str, row: str
) -> None:
    """A value from a row must not begin a header of its own."""
    effect = report(post.server, each="id", **({"subject": "Stock", part: "{value}"}))
    with pytest.raises(EffectFault, match="line break"):
        desk.do(effect, {"id": 1, "value": row})
    assert post.mail == []
