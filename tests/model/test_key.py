"""A surrogate key is the same wherever it is computed, and never stands for two rows."""

from __future__ import annotations

import hashlib
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.errors import UsageError
from setpoint.model.key import surrogate_key_of, surrogate_key_sql

if TYPE_CHECKING:
    from setpoint.model.encoding import KeyValue

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PART = st.none() | TEXT
INSTANTS = st.datetimes(
    min_value=datetime(1900, 1, 1),  # noqa: DTZ001 — the zone is given beside it
    max_value=datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.sampled_from([timezone.utc, ZoneInfo("Europe/Paris"), ZoneInfo("Asia/Kolkata")]),
)


def test_the_definition_is_fixed_byte_for_byte() -> None:
    """Length, colon, text; `n` for null; SHA-256 in hex: keys stored today hold tomorrow."""
    encoded = "5:café" + "n" + "1:7"
    assert surrogate_key_of("café", None, 7) == hashlib.sha256(encoded.encode()).hexdigest()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a|b", "c"), ("a", "b|c")),
        (("ab", "c"), ("a", "bc")),
        ((None,), ("",)),
        (("a", None), ("a",)),
        (("a", None), (None, "a")),
        (("n",), (None,)),
        (("1:a",), ("a",)),
        (("é",), ("e\u0301",)),
        ((True,), (1,)),
    ],
)
def test_different_values_have_different_keys(
    one: tuple[KeyValue, ...], other: tuple[KeyValue, ...]
) -> None:
    """No separator, null or length can make two lists of values read alike."""
    assert surrogate_key_of(*one) != surrogate_key_of(*other)


@given(st.lists(PART, min_size=1, max_size=4), st.lists(PART, min_size=1, max_size=4))
def test_keys_are_equal_only_for_equal_values(
    one: list[str | None], other: list[str | None]
) -> None:
    """Any two lists of texts and nulls share a key only when they are the same list."""
    assert (surrogate_key_of(*one) == surrogate_key_of(*other)) == (one == other)


@given(st.lists(PART, min_size=2, max_size=5), st.data())
def test_moving_a_border_between_texts_changes_the_key(
    parts: list[str | None], data: st.DataObject
) -> None:
    """Gluing two neighbours together is another list of values, whatever the texts hold."""
    at = data.draw(st.integers(0, len(parts) - 2))
    glued = [*parts[:at], (parts[at] or "") + (parts[at + 1] or ""), *parts[at + 2 :]]
    assert surrogate_key_of(*glued) != surrogate_key_of(*parts)


@given(st.integers())
def test_a_number_and_its_text_name_one_entity(number: int) -> None:
    """The customer 7 is the customer '7': keys are free of types by design."""
    assert surrogate_key_of(number) == surrogate_key_of(str(number))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4), st.integers(0, 6))
def test_decimals_are_equal_by_value_and_not_by_scale(number: Decimal, zeros: int) -> None:
    """1.5 and 1.50 are one number, so they are one key."""
    longer = Decimal(f"{number:f}" + "0" * zeros)
    assert surrogate_key_of(number) == surrogate_key_of(longer)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("1.50", "1.5"),
        ("100", "100"),
        ("1E+3", "1000"),
        ("-0.00", "0"),
        ("0E-9", "0"),
        ("-7.0", "-7"),
    ],
)
def test_a_decimal_is_written_plainly(number: str, text: str) -> None:
    """No exponent, no trailing zeros, no minus zero."""
    assert surrogate_key_of(Decimal(number)) == surrogate_key_of(text)


@given(INSTANTS)
def test_instants_are_equal_whatever_zone_they_are_told_in(instant: datetime) -> None:
    """The same moment seen from another zone is the same key."""
    elsewhere = instant.astimezone(timezone(timedelta(hours=-9, minutes=-30)))
    assert surrogate_key_of(instant) == surrogate_key_of(elsewhere)
    later = instant + timedelta(microseconds=1)
    assert surrogate_key_of(instant) != surrogate_key_of(later)


def test_times_and_booleans_have_one_text_each() -> None:
    """A date, a timestamp and a boolean stand for the text that Spark gives them."""
    assert surrogate_key_of(date(2026, 4, 25)) == surrogate_key_of("2026-04-25")
    stamp = datetime(2026, 4, 25, 13, 0, tzinfo=timezone(timedelta(hours=2)))
    assert surrogate_key_of(stamp) == surrogate_key_of("2026-04-25 11:00:00.000000")
    assert surrogate_key_of(stamp.replace(tzinfo=None)) == surrogate_key_of(
        "2026-04-25 13:00:00.000000"
    )
    assert surrogate_key_of(True, False) == surrogate_key_of("true", "false")


@pytest.mark.parametrize("value", [1.5, b"x", ["a"], {"a": 1}])
def test_a_value_without_one_text_is_refused(value: Any) -> None:
    """Floats, bytes and nested values have no stable text; the error names the type."""
    with pytest.raises(UsageError, match=type(value).__name__):
        surrogate_key_of(value)


def test_a_key_of_nothing_is_refused() -> None:
    """A hash of no columns would be one key for all rows."""
    with pytest.raises(UsageError, match="at least one column"):
        surrogate_key_of()
    with pytest.raises(UsageError, match="at least one column"):
        surrogate_key_sql()


def test_the_sql_form_keeps_expressions_whole() -> None:
    """Each expression stands in parentheses of its own, braces and all, in the order given."""
    sql = surrogate_key_sql("a OR b", "'{x}'")
    assert sql.startswith("sha2(concat(")
    assert sql.endswith("), 256)")
    assert sql.index("(a OR b)") < sql.index("('{x}')")
    assert sql.count("(") == sql.count(")")
    assert "{text}" not in sql
