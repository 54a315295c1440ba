"""The checksum ck1: equal for equal rows, whatever their order; different for any difference."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import namedtuple
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.errors import UsageError
from setpoint.model.checksum import ck1, encode_row

if TYPE_CHECKING:
    import random

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.decimals(allow_nan=False, allow_infinity=False, places=3)
    | TEXT
    | st.binary(max_size=8)
    | st.dates()
    | st.datetimes(timezones=st.none() | st.just(timezone.utc))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ROWS = st.lists(st.dictionaries(TEXT, VALUES, max_size=5), max_size=6)


@given(ROWS, st.randoms())
def test_the_order_of_rows_and_columns_does_not_matter(
    rows: list[dict[str, Any]], chance: random.Random
) -> None:
    """The same rows in any order, their columns in any order, have one checksum."""
    mixed = []
    for row in rows:
        columns = list(row.items())
        chance.shuffle(columns)
        mixed.append(dict(columns))
    chance.shuffle(mixed)
    assert ck1(mixed) == ck1(rows)


@given(ROWS, st.integers(0, 6))
def test_parts_add_up_to_the_whole(rows: list[dict[str, Any]], cut: int) -> None:
    """Partitions can be summed apart: the sums wrap at 64 bits and are free of order."""
    whole, left, right = ck1(rows), ck1(rows[:cut]), ck1(rows[cut:])
    assert whole.rows == left.rows + right.rows
    assert whole.first == (left.first + right.first) % 2**64
    assert whole.second == (left.second + right.second) % 2**64


@given(st.dictionaries(TEXT, VALUES, max_size=5), st.integers(1, 4))
def test_duplicates_are_counted(row: dict[str, Any], times: int) -> None:
    """A row that appears once more changes the checksum; a doubled table is never equal."""
    assert ck1([row] * times) != ck1([row] * (times + 1))
    assert ck1([row] * times).rows == times


@given(st.lists(st.tuples(TEXT, SCALARS), min_size=1, max_size=4), st.data())
def test_any_changed_text_is_seen(columns: list[tuple[str, Any]], data: st.DataObject) -> None:
    """Replacing one value by another text gives another checksum."""
    row = dict(columns)
    name = data.draw(st.sampled_from(sorted(row)))
    other = data.draw(TEXT.filter(lambda text: text != row[name]))
    assert ck1([row | {name: other}]) != ck1([row])


def test_no_rows_have_a_checksum_of_their_own() -> None:
    """An emptied window is told from one that holds a row without columns."""
    assert str(ck1([])) == "ck1:0:" + "0" * 32
    assert ck1([{}]) != ck1([])


def test_the_text_form_is_fixed() -> None:
    """Checksums written into the ledger today are compared with those of tomorrow."""
    texts = ("r2(2:idi1;4:names2:é)", "r2(2:idi2;4:namen)")
    rows: list[dict[str, Any]] = [{"name": "é", "id": 1}, {"id": 2, "name": None}]
    assert tuple(map(encode_row, rows)) == texts
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    sums = [sum(int(h[at : at + 16], 16) for h in hashes) % 2**64 for at in (0, 16)]
    assert str(ck1(rows)) == f"ck1:2:{sums[0]:016x}{sums[1]:016x}"


LOOKALIKES: list[tuple[Any, Any]] = [
    (None, ""),
    (None, 0),
    ("", 0),
    (0, False),
    ("n", None),
    ("1", 1),
    (1, 1.0),
    (1, Decimal(1)),
    (b"a", "61"),
    ([], {}),
    ([None], []),
    (["a", "b"], ["ab"]),
    ([["a"], "b"], ["a", ["b"]]),
    ({"a": 1}, {"a": 2}),
    ({"a": None}, {}),
    (date(1970, 1, 2), 1),
    (date(2026, 4, 25), datetime(2026, 4, 25)),  # noqa: DTZ001 — without a zone on purpose
    (datetime(2026, 4, 25), datetime(2026, 4, 25, tzinfo=timezone.utc)),  # noqa: DTZ001
    (float("inf"), float("-inf")),
    (float("nan"), None),
    (0.1 + 0.2, 0.3),
]


@pytest.mark.parametrize(("one", "other"), LOOKALIKES)
def test_values_that_look_alike_differ(one: Any, other: Any) -> None:
    """Null, '', 0 and false; a date and a timestamp; a list and its text: all different."""
    assert ck1([{"x": one}]) != ck1([{"x": other}])


SAME: list[tuple[Any, Any]] = [
    (0.0, -0.0),
    (float("nan"), -float("nan")),
    (Decimal("1.50"), Decimal("1.5")),
    (b"a", bytearray(b"a")),
    ([1, 2], (1, 2)),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    (
        datetime(2026, 4, 25, 2, tzinfo=timezone(timedelta(hours=2))),
        datetime(2026, 4, 25, tzinfo=timezone.utc),
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_values_that_mean_the_same_are_equal(one: Any, other: Any) -> None:
    """Minus zero, the NaNs, scales of decimals, orders of map entries and zones do not matter."""
    assert ck1([{"x": one}]) == ck1([{"x": other}])


def test_columns_are_told_apart_by_name() -> None:
    """A value that moved to another column is a change, also when names and values blend."""
    assert ck1([{"a": 1, "b": None}]) != ck1([{"a": None, "b": 1}])
    assert ck1([{"ab": "c"}]) != ck1([{"a": "bc"}])
    assert ck1([{"a": 1}]) != ck1([{"a": 1, "b": None}])


def test_unicode_normal_forms_differ() -> None:
    """The checksum compares bytes: texts that only look the same are different data."""
    composed = "Ame\u0301lie"
    assert unicodedata.normalize("NFC", composed) != composed
    assert ck1([{"x": composed}]) != ck1([{"x": unicodedata.normalize("NFC", composed)}])


def test_structs_are_nested_rows() -> None:
    """A struct is encoded by its field names, so that it differs from an array of its values."""
    point = namedtuple("point", ["y", "x"])  # noqa: PYI024 — what a row of Spark looks like
    twin = namedtuple("twin", ["x", "y"])  # noqa: PYI024
    assert ck1([{"p": point(y=2, x=1)}]) == ck1([{"p": twin(x=1, y=2)}])
    assert ck1([{"p": point(y=2, x=1)}]) != ck1([{"p": [2, 1]}])
    assert encode_row({"p": point(y=2, x=1)}) == "r1(1:pr2(1:xi1;1:yi2;))"


@given(st.integers(0, 199), st.integers(1, 9))
def test_one_changed_value_among_200_columns_is_seen(at: int, change: int) -> None:
    """Wide rows are covered to their last column."""
    wide = {f"column_{n}": n for n in range(200)}
    assert ck1([wide | {f"column_{at}": at + change}]) != ck1([wide])


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_floats_are_compared_bit_by_bit(one: float, other: float) -> None:
    """Two floats are equal in the checksum exactly when they are equal numbers."""
    assert (ck1([{"x": one}]) == ck1([{"x": other}])) == (one == other)


def test_a_value_without_an_encoding_is_refused() -> None:
    """Sets have no order and no place in a table; the error names the type."""
    with pytest.raises(UsageError, match="set"):
        ck1([{"x": {1, 2}}])
