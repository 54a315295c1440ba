"""The idempotency key: one meaning, one key."""

from __future__ import annotations

import hashlib
import json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.errors import UsageError
from setpoint.model.idempotency_key import canonical_json, idempotency_key

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abcé", max_size=3), inner),
    max_leaves=12,
)


def test_the_definition_byte_for_byte() -> None:
    """Sorted keys, no spaces, plain numbers: the text can be made by hand in any language."""
    value = {"b": [1.50, True, None], "a": "é\n", "c": Decimal("1E+2")}
    assert canonical_json(value) == '{"a":"é\\n","b":[1.5,true,null],"c":100}'
    assert idempotency_key(value) == hashlib.sha256(canonical_json(value).encode()).hexdigest()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (1, 1.0),
        (Decimal("1.00"), 1),
        (-0.0, 0),
        (0.1, Decimal("0.1")),
        ("e\u0301", "é"),
        ({"e\u0301": 1}, {"é": 1}),
        ((1, 2), [1, 2]),
        (
            datetime(2026, 4, 25, 12, tzinfo=timezone.utc),
            datetime(2026, 4, 25, 14, tzinfo=timezone(timedelta(hours=2))),
        ),
    ],
)
def test_the_same_meaning_has_the_same_key(one: Any, other: Any) -> None:
    """Order of keys, spelling of numbers, letters and instants do not matter."""
    assert idempotency_key(one) == idempotency_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"),
        (True, 1),
        (None, "null"),
        ({"a": None}, {}),
        ([1, 2], [2, 1]),
        ([], {}),
        (date(2026, 4, 25), datetime(2026, 4, 25, tzinfo=timezone.utc)),
        (0.1 + 0.2, 0.3),
    ],
)
def test_another_meaning_has_another_key(one: Any, other: Any) -> None:
    """Types and order of lists do matter."""
    assert idempotency_key(one) != idempotency_key(other)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        {1: 2},
        "\ud800",
        datetime(2026, 4, 25),  # noqa: DTZ001 — the one without a zone
        {1, 2},
        object(),
        b"x",
        {"é": 1, "e\u0301": 2},
    ],
)
def test_what_has_no_one_meaning_is_refused(value: Any) -> None:
    """Refused rather than guessed at."""
    with pytest.raises(UsageError):
        idempotency_key(value)


def test_a_bottomless_object_is_refused() -> None:
    """No recursion without an end."""
    value: list[Any] = []
    value.append(value)
    with pytest.raises(UsageError, match="nested"):
        idempotency_key(value)


@given(PLAIN)
def test_canonical_json_is_json_and_canonical(value: Any) -> None:
    """It reads back, and written again it is the same text."""
    text = canonical_json(value)
    assert canonical_json(json.loads(text)) == text
