"""HTTP receivers: each message arrives once, or a person is asked."""

from __future__ import annotations

from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.effects.conftest import AT_ONCE, LOOPBACK, Desk
from tests.effects.receivers import Fault

from setpoint.ledger.instant import utc_now
from setpoint.model.receiver import http, slack, webhook

if TYPE_CHECKING:
    from tests.effects.receivers import HttpReceiver

    from setpoint.model.effect import Effect


def charge(url: str, **changes: Any) -> Effect:
    """A call of a payment-like API, a payment a row."""
    given: dict[str, Any] = {
        "url": url,
        "each": "payment_id",
        "body": {"amount": "{amount}"},
        "allow": LOOPBACK,
        "timeout": 2,
        "backoff": AT_ONCE,
    }
    return http("charge", **(given | changes))


def test_a_row_is_one_call_with_a_key_however_often_it_is_offered(
    desk: Desk, web: HttpReceiver
) -> None:
    """The second run offers the same key, sends nothing and says so (I1, I2)."""
    row = {"payment_id": "p1", "amount": 12}
    assert desk.do(charge(web.url), row).counts == {"sent": 1}
    (offer,) = desk.record(charge(web.url), row)
    assert offer.outcome == "same"
    assert "already sent" in offer.words
    assert desk.send().counts == {}
    ((path, headers, body),) = web.requests
    assert (path, body) == ("/hook", {"amount": 12})
    assert headers["Idempotency-Key"] == desk.only().key == offer.key


def test_changed_content_is_reported_and_not_sent(desk: Desk, web: HttpReceiver) -> None:
    """`changed since sent`: what was sent stays what was sent, until a person says otherwise."""
    desk.do(charge(web.url), {"payment_id": "p1", "amount": 12})
    (offer,) = desk.record(charge(web.url), {"payment_id": "p1", "amount": 13})
    assert offer.outcome == "changed"
    assert "changed since sent" in offer.words
    assert "setpoint effects resolve" in offer.words
    desk.send()
    assert len(web.requests) == 1
    desk.outbox.resolve(offer.key, decision="resend")
    desk.send()
    assert [body for _, _, body in web.requests] == [{"amount": 12}, {"amount": 13}]
    # A receiver that honours keys would drop the new words under the old key.
    assert len(web.acted) == 2


def test_changed_content_is_sent_where_the_effect_says_so(desk: Desk, web: HttpReceiver) -> None:
    """`resend="on_change"` sends the new words under a new key, once."""
    effect = charge(web.url, resend="on_change")
    desk.do(effect, {"payment_id": "p1", "amount": 12})
    for _ in range(2):
        desk.do(effect, {"payment_id": "p1", "amount": 13})
    assert [body for _, _, body in web.requests] == [{"amount": 12}, {"amount": 13}]
    assert len(web.acted) == 2


def test_what_is_recorded_is_frozen(desk: Desk, web: HttpReceiver) -> None:
    """What a later run would say differently does not change what waits to be sent."""
    desk.record(charge(web.url), {"payment_id": "p1", "amount": 12})
    (offer,) = desk.record(charge(web.url), {"payment_id": "p1", "amount": 13})
    assert offer.outcome == "changed"
    desk.send()
    assert [body for _, _, body in web.requests] == [{"amount": 12}]


def test_scenario_39_a_webhook_that_times_out_after_acting_is_retried_with_its_key(
    desk: Desk, web: HttpReceiver
) -> None:
    """With a key: sent again, and the receiver acts once."""
    web.ahead = [Fault(hang=True)]
    sent = desk.do(charge(web.url, timeout=0.3), {"payment_id": "p1", "amount": 12})
    assert sent.counts == {"retried": 1, "sent": 1}
    assert len(web.requests) == 2
    assert set(web.acted.values()) == {1}


def test_scenario_39_a_webhook_that_times_out_after_acting_is_held_without_a_key(
    desk: Desk, keyless: HttpReceiver
) -> None:
    """Without a key: held for a person; no run, no rerun and no `send` sends it again."""
    keyless.ahead = [Fault(hang=True)]
    effect = charge(keyless.url, timeout=0.3, key_header=None)
    row = {"payment_id": "p1", "amount": 12}
    assert desk.do(effect, row).counts == {"unknown": 1}
    (offer,) = desk.record(effect, row)
    assert "unknown whether it arrived" in offer.words
    desk.send()
    assert len(keyless.requests) == 1
    desk.outbox.resolve(offer.key, decision="sent")
    assert desk.only().state == "sent"
    desk.send()
    assert len(keyless.requests) == 1


def test_a_person_may_have_it_sent_again(desk: Desk, keyless: HttpReceiver) -> None:
    """`--resend` after the receiver was asked: it goes out once more."""
    keyless.ahead = [Fault(drop=True, act=False)]
    effect = charge(keyless.url, key_header=None)
    assert desk.do(effect, {"payment_id": "p1", "amount": 12}).counts == {"unknown": 1}
    desk.outbox.resolve(desk.only().key[:12], decision="resend")
    assert desk.send().counts == {"sent": 1}
    assert list(keyless.acted.values()) == [1]


@pytest.mark.parametrize("status", [400, 401, 404, 409, 422])
def test_a_permanent_error_is_not_retried(desk: Desk, web: HttpReceiver, status: int) -> None:
    """4xx: the receiver has understood and said no."""
    web.ahead = [Fault(status=status)]
    assert desk.do(charge(web.url), {"payment_id": "p1", "amount": 1}).counts == {"failed": 1}
    assert len(web.requests) == 1
    assert f"HTTP {status}" in (desk.only().error or "")


@pytest.mark.parametrize("status", [408, 429])
def test_a_receiver_that_asks_for_patience_gets_it(
    desk: Desk, keyless: HttpReceiver, status: int
) -> None:
    """408 and 429 say that nothing was done: tried again, with or without a key."""
    keyless.ahead = [Fault(status=status), Fault(status=status)]
    effect = charge(keyless.url, key_header=None)
    assert desk.do(effect, {"payment_id": "p1", "amount": 1}).counts == {"retried": 2, "sent": 1}
    assert list(keyless.acted.values()) == [1]


@pytest.mark.parametrize("as_date", [False, True])
def test_retry_after_is_honoured(desk: Desk, web: HttpReceiver, as_date: bool) -> None:
    """The next attempt waits as long as the receiver asked, in seconds or until a date."""
    asked = format_datetime(utc_now().replace(year=2101), usegmt=True) if as_date else "3600"
    web.ahead = [Fault(status=503, headers={"Retry-After": asked})]
    assert desk.do(charge(web.url), {"payment_id": "p1", "amount": 1}).counts == {"retried": 1}
    waiting = desk.only()
    assert waiting.state == "pending"
    assert waiting.not_before is not None
    assert (waiting.not_before - utc_now()).total_seconds() > 3500
    assert len(web.requests) == 1


def test_a_server_fault_is_retried_with_a_key_and_held_without(
    desk: Desk, web: HttpReceiver, keyless: HttpReceiver
) -> None:
    """500 after it acted: nobody knows, unless the key makes it harmless to ask again."""
    row = {"payment_id": "p1", "amount": 1}
    web.ahead = [Fault(status=500)]
    assert desk.do(charge(web.url), row).counts == {"retried": 1, "sent": 1}
    keyless.ahead = [Fault(status=500)]
    other = charge(keyless.url, key_header=None, each=["payment_id", "amount"])
    assert desk.do(other, row).counts == {"unknown": 1}


def test_retries_come_to_an_end(desk: Desk, web: HttpReceiver) -> None:
    """After the last retry it has failed, and a rerun tries it again."""
    web.ahead = [Fault(status=429)] * 3
    effect, row = charge(web.url, retries=2), {"payment_id": "p1", "amount": 1}
    assert desk.do(effect, row).counts == {"retried": 2, "failed": 1}
    (offer,) = desk.record(effect, row)
    assert offer.outcome == "again"
    assert desk.send().counts == {"sent": 1}


def test_nothing_listens_is_certain_not_to_have_arrived(desk: Desk, keyless: HttpReceiver) -> None:
    """A refused connection is tried again even without a key."""
    keyless.close()
    effect = charge(keyless.url, key_header=None, retries=1)
    sent = desk.do(effect, {"payment_id": "p1", "amount": 1})
    assert sent.counts == {"retried": 1, "failed": 1}


def test_a_receiver_that_drips_is_cut_at_its_time(desk: Desk) -> None:
    """The timeout is of the whole attempt, not of each byte."""
    import socket
    import threading
    import time

    listening = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = listening.accept()
        try:
            while True:
                connection.sendall(b"H")
                time.sleep(0.05)
        except OSError:
            connection.close()

    threading.Thread(target=drip, daemon=True).start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    effect = charge(url, timeout=0.4, key_header=None)
    sent = desk.do(effect, {"payment_id": "p1", "amount": 1})
    assert sent.counts == {"unknown": 1}
    listening.close()


def test_concurrency_sends_many_at_once_and_each_once(desk: Desk, web: HttpReceiver) -> None:
    """A few hundred messages over several threads: every one acted on once."""
    rows = [{"payment_id": n, "amount": n} for n in range(200)]
    assert desk.do(charge(web.url, concurrency=8), *rows).counts == {"sent": 200}
    assert len(web.acted) == 200
    assert set(web.acted.values()) == {1}


def test_a_rate_is_kept(desk: Desk, web: HttpReceiver) -> None:
    """Ten messages at forty a second take a fifth of a second at least."""
    import time

    begun = time.monotonic()
    rows = [{"payment_id": n, "amount": n} for n in range(10)]
    assert desk.do(charge(web.url, rate=40), *rows).counts == {"sent": 10}
    assert time.monotonic() - begun > 0.2


def test_slack_gets_its_text_and_its_address_from_the_environment(
    desk: Desk, keyless: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One post with `{"text": …}`; the outbox holds only the name of the address."""
    monkeypatch.setenv("SLACK_URL", keyless.url)
    effect = slack("posted", url="${SLACK_URL}", text="{rows} rows", allow=LOOPBACK)
    assert desk.do(effect, {"region": "north"}, {"region": "south"}).counts == {"sent": 1}
    assert keyless.requests[0][2] == {"text": "2 rows"}
    assert desk.only().content["url"] == "${SLACK_URL}"


def test_a_webhook_without_a_body_sends_the_row(desk: Desk, web: HttpReceiver) -> None:
    """What is not said otherwise is the row itself."""
    effect = webhook("told", url=web.url + "/{id}", each="id", allow=LOOPBACK)
    desk.do(effect, {"id": "a/b", "name": "Zoë"})
    path, _, body = web.requests[0]
    assert path == "/hook/a%2Fb"
    assert body == {"id": "a/b", "name": "Zoë"}
