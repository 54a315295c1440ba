"""Every decision about a message, as data."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.errors import EffectFault, UsageError
from setpoint.model.delivery import Delivery, Sender, offered, settled, taken
from setpoint.model.effect import effect_key
from setpoint.model.grain import Grain
from setpoint.model.letter import Occasion, letters
from setpoint.model.receiver import call, email, http, publish, slack, webhook
from setpoint.model.retry import Backoff
from setpoint.model.verdict import Verdict, http_verdict, smtp_verdict

NOW = datetime(2026, 4, 26, 3, tzinfo=timezone.utc)
WINDOW = Grain.parse("day").window_at(datetime(2026, 4, 25, tzinfo=timezone.utc))
OCCASION = Occasion(task="orders", window=WINDOW, recorded_at=NOW)
ME = Sender(claim="c", host="here", pid=1)


def letter(amount: int = 1, **changes: Any) -> Delivery:
    """A message about an amount."""
    options = {"url": "https://a.example/", "each": "id", **changes}
    (made,) = letters(http("told", **options), [{"id": 7, "amount": amount}], OCCASION)
    return made


@pytest.mark.parametrize(
    ("status", "retry_after", "arrival"),
    [
        (200, None, "sent"),
        (204, None, "sent"),
        (301, None, "refused"),
        (400, None, "refused"),
        (404, None, "refused"),
        (408, None, "again"),
        (429, None, "again"),
        (500, None, "unclear"),
        (502, None, "unclear"),
        (503, None, "unclear"),
        (503, 5.0, "again"),
        (504, None, "unclear"),
        (101, None, "unclear"),
    ],
)
def test_what_an_http_status_means(status: int, retry_after: float | None, arrival: str) -> None:
    """Arrived, not arrived, refused, or nobody knows."""
    assert http_verdict(status, retry_after=retry_after).arrival == arrival


@pytest.mark.parametrize(
    ("code", "arrival"), [(250, "sent"), (421, "again"), (451, "again"), (550, "refused")]
)
def test_what_an_smtp_reply_means(code: int, arrival: str) -> None:
    """4xx may be tried again, 5xx may not."""
    assert smtp_verdict(code).arrival == arrival


def test_the_key_is_unambiguous() -> None:
    """Parts that read alike when joined have different keys; a number and its text have one."""
    parts: list[tuple[str, str, tuple[Any, ...]]] = [
        ("a", "bc", ()),
        ("ab", "c", ()),
        ("a", "b", ("c",)),
        ("a", "b", ("c", "d")),
        ("a", "b", ("cd",)),
        ("a", "b", ("c", None)),
        ("a", "b", (None, "c")),
    ]
    keys = {effect_key(task, WINDOW, effect, business) for task, effect, business in parts}
    assert len(keys) == len(parts)
    assert effect_key("a", WINDOW, "b") != effect_key("a", None, "b")
    assert effect_key("a", None, "b", (7,)) == effect_key("a", None, "b", ("7",))


@given(st.lists(st.sampled_from(["again", "unclear"]), max_size=20), st.booleans())
def test_without_a_key_nothing_unclear_is_ever_sent_again(ends: list[Any], keyed: bool) -> None:
    """However attempts end: after an unclear one a message without a key is never pending."""
    message = letter(key_header="Idempotency-Key" if keyed else None, retries=30)
    for arrival in ends:
        if message.state != "pending":
            break
        verdict = Verdict(arrival=arrival)
        message = settled(taken(message, ME, NOW), verdict, now=NOW, chance=Random(1))
        if arrival == "unclear" and not keyed:
            assert message.state == "unknown"
        else:
            assert message.state == "pending"


def test_waits_grow_and_heed_the_receiver() -> None:
    """Backoff by the number of attempts; never shorter than `Retry-After`."""
    message = letter(backoff=Backoff(first=1, factor=2, jitter=0))
    waits = []
    for _ in range(3):
        verdict = Verdict(arrival="again")
        message = settled(taken(message, ME, NOW), verdict, now=NOW, chance=Random(1))
        assert message.not_before is not None
        waits.append((message.not_before - NOW).total_seconds())
    assert waits == [1, 2, 4]
    verdict = Verdict(arrival="again", retry_after=99)
    message = settled(taken(message, ME, NOW), verdict, now=NOW, chance=Random(1))
    assert message.not_before == NOW + timedelta(seconds=99)


def test_a_server_that_moved_is_no_new_message() -> None:
    """Settings are not part of what a message says; a pending one goes the new way."""
    first = letter(headers={"X-Team": "a"})
    moved = letter(headers={"X-Team": "b"})
    kept, offer = offered(first, moved)
    assert offer.outcome == "waits"
    assert kept is not None
    assert kept.content["headers"] == {"X-Team": "b"}


@pytest.mark.parametrize("amount", ["{amount}", "{{amount}}", "${AMOUNT}", "{ds} {task}"])
def test_templates_fill_in_what_is_named_and_nothing_else(amount: str) -> None:
    """Braces in pairs are braces, `${…}` is the environment's, the window is at hand."""
    (made,) = letters(
        http("told", url="https://a.example/", each="id", body={"a": amount}),
        [{"id": 1, "amount": 5}],
        OCCASION,
    )
    expected = {
        "{amount}": 5,
        "{{amount}}": "{amount}",
        "${AMOUNT}": "${AMOUNT}",
        "{ds} {task}": "2026-04-25 orders",
    }
    assert made.content["body"] == {"a": expected[amount]}


def test_a_template_reads_no_attributes() -> None:
    """`{x.y}` and `{x[0]}` are plain text: no way into objects."""
    effect = http("told", url="https://a.example/", each="id", body="{id.__class__} {id[0]}")
    (made,) = letters(effect, [{"id": 1}], OCCASION)
    assert made.content["body"] == "{id.__class__} {id[0]}"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"id": None}], "has no id"),
        ([{"other": 1}], "no column 'id'"),
        ([{"id": 1, "amount": 1}, {"id": 1, "amount": 2}], "share the business id"),
        ([{"id": n} for n in range(4)], "more than 3 rows"),
    ],
)
def test_rows_that_make_no_single_message_are_refused(rows: list[Any], words: str) -> None:
    """Nothing is recorded of any of them."""
    effect = http("told", url="https://a.example/", each="id", limit=3)
    with pytest.raises(EffectFault, match=words):
        letters(effect, rows, OCCASION)


def test_an_unknown_name_is_told_with_those_that_are_known() -> None:
    """The error names what may be named."""
    effect = http("told", url="https://a.example/{idd}", each="id")
    with pytest.raises(EffectFault, match=r"\{idd\}") as refused:
        letters(effect, [{"id": 1}], OCCASION)
    assert "id" in (refused.value.next_step or "")


def test_an_empty_window_has_nothing_to_tell() -> None:
    """No rows, no message; the summary of nothing is none either."""
    rows_effect = webhook("a", url="https://a.example/")
    sums = webhook("b", url="https://a.example/", summary={"n": "sum(x)"})
    assert letters(rows_effect, [], OCCASION) == []
    assert letters(sums, [{"rows": 0, "n": None}], OCCASION) == []
    (made,) = letters(sums, [{"rows": 2, "n": 9}], OCCASION)
    assert made.content["body"] == {"rows": 2, "n": 9}


def test_a_function_makes_the_message() -> None:
    """It gets the rows and the window; what it raises is told as the effect's."""
    effect = slack("a", url="${U}", text=lambda rows, window: f"{len(rows)} on {window.ds}")
    (made,) = letters(effect, [{"x": 1}, {"x": 2}], OCCASION)
    assert made.content["body"] == "2 on 2026-04-25"
    broken = slack("a", url="${U}", text=lambda rows, _window: rows[9])
    with pytest.raises(EffectFault, match="IndexError"):
        letters(broken, [{"x": 1}], OCCASION)


@pytest.mark.parametrize(
    "declare",
    [
        lambda: http("a b", url="https://a.example"),
        lambda: http("a", url="https://a.example", method="GET"),
        lambda: http("a", url="https://a.example", allow=["everything"]),
        lambda: http("a", url="https://a.example", timeout=0),
        lambda: http("a", url="https://a.example", retries=-1),
        lambda: http("a", url="https://a.example", each="x", summary={"n": "count(1)"}),
        lambda: http("a", url="https://a.example", key_header=None, honours_key=True),
        lambda: http("a", url="https://a.example", resend="always"),
        lambda: publish("a", topic="t"),
        lambda: call("a", "not a function"),  # type: ignore[arg-type]
        lambda: email(
            "a", server="m", sender="a@b.example", to="x", subject="s", text="t", tls="x"
        ),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(declare: Any) -> None:
    """When the file is read, not in the night."""
    with pytest.raises(UsageError):
        declare()
