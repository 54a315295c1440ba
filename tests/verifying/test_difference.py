"""The smallest counter-example between two states of a table."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.verifying.difference import compare, compare_table
from setpoint.verifying.rows import Rows

COLUMNS = ("id", "region", "amount")
ROWS: list[tuple[Any, ...]] = [(1, "n", 10), (2, "s", 20), (3, "e", 30)]


def rows(*content: tuple[Any, ...], columns: tuple[str, ...] = COLUMNS) -> Rows:
    """Rows of the example table."""
    return Rows.of(columns, content)


def test_equal_rows_have_no_difference_in_whatever_order() -> None:
    """Neither the order of rows nor that of columns is content."""
    turned = rows(*[(a, i, r) for i, r, a in reversed(ROWS)], columns=("amount", "id", "region"))
    assert compare_table("t", rows(*ROWS), turned) is None


def test_rows_that_were_added_again_are_doubled() -> None:
    """All new rows are ones that were there."""
    found = compare_table("t", rows(*ROWS), rows(*ROWS, *ROWS))
    assert found is not None
    assert (found.kind, found.columns, found.before, found.after) == ("doubled", (), 3, 6)
    assert "added again" in found.words


def test_rows_that_were_added_again_under_new_keys_are_doubled_but_for_the_key() -> None:
    """The fewest columns without which the new rows are the old ones."""
    again = [(n + 100, r, a) for n, r, a in ROWS]
    found = compare_table("t", rows(*ROWS), rows(*ROWS, *again))
    assert found is not None
    assert (found.kind, found.columns) == ("doubled", ("id",))


def test_a_changed_column_is_named_with_a_sample_from_both_sides() -> None:
    """Rows are matched by what did not change."""
    found = compare_table("t", rows(*ROWS), rows(*[(n, r, a + 1) for n, r, a in ROWS]))
    assert found is not None
    assert (found.kind, found.columns, found.rows) == ("changed", ("amount",), 3)
    assert found.samples[0].before == {"id": 1, "region": "n", "amount": 10}
    assert found.samples[0].after == {"id": 1, "region": "n", "amount": 11}


def test_swapped_values_are_found_by_the_key() -> None:
    """Each column alone has the same values as before; a key tells which rows changed."""
    swapped = rows((1, "n", 20), (2, "s", 10), (3, "e", 30))
    for key in ((), ("id",)):
        found = compare_table("t", rows(*ROWS), swapped, key)
        assert found is not None
        assert (found.kind, found.columns, found.rows) == ("changed", ("amount",), 2)


@pytest.mark.parametrize(
    ("second", "kind", "count"),
    [(ROWS[:1], "lost", 2), ([*ROWS, (4, "w", 99)], "added", 1), ([], "lost", 3)],
)
def test_lost_and_added_rows(second: list[tuple[Any, ...]], kind: str, count: int) -> None:
    """With how many."""
    found = compare_table("t", rows(*ROWS), rows(*second))
    assert found is not None
    assert (found.kind, found.rows) == (kind, count)


def test_a_table_that_came_or_went() -> None:
    """No table and an empty one are the same to a reader of rows."""
    assert compare({}, {"t": rows()}) is None
    made = compare({}, {"t": rows(*ROWS)})
    gone = compare({"t": rows(*ROWS)}, {})
    assert made is not None
    assert gone is not None
    assert (made.kind, gone.kind) == ("added", "lost")


def test_other_columns_are_a_difference() -> None:
    """They are named."""
    found = compare_table("t", rows(*ROWS), rows((1, 2), columns=("id", "price")))
    assert found is not None
    assert set(found.columns) == {"price", "region", "amount"}


def test_values_that_cannot_be_compared_by_themselves() -> None:
    """NaN is NaN, lists and maps are compared by content."""
    odd = [(float("nan"), [1, {"a": [2]}], {"b": 1, "a": 2})]
    same = [(float("nan"), [1, {"a": [2]}], {"a": 2, "b": 1})]
    columns = ("x", "y", "z")
    assert compare_table("t", Rows.of(columns, odd), Rows.of(columns, same)) is None


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 2)), max_size=6),
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 2)), max_size=6),
)
def test_a_difference_is_told_exactly_when_the_rows_differ(
    first: list[tuple[Any, ...]], second: list[tuple[Any, ...]]
) -> None:
    """And the checksum agrees."""
    one, other = rows(*first), rows(*second)
    found = compare_table("t", one, other)
    assert (found is None) == (sorted(first) == sorted(second))
    assert (found is None) == (one.checksum == other.checksum)
    if found is not None:
        assert found.samples or found.rows == 0
        assert found.words
