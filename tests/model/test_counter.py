"""A counter kept as a set of adjustments (I4)."""

from __future__ import annotations

import sqlite3

import pytest

from setpoint.errors import UsageError
from setpoint.model.counter import CounterAsSet


@pytest.fixture
def shop() -> sqlite3.Cursor:
    """A stock of two things."""
    cursor = sqlite3.connect(":memory:").cursor()
    cursor.execute("CREATE TABLE stock (sku TEXT PRIMARY KEY, qty INTEGER)")
    cursor.execute("INSERT INTO stock VALUES ('bolt', 100), ('nut', 50)")
    return cursor


def test_an_adjustment_counts_once_however_often_it_is_made(shop: sqlite3.Cursor) -> None:
    """Counting down takes twice off; the set does not."""
    stock = CounterAsSet(table="stock", key="sku", quantity="qty")
    stock.create(shop)
    new = [stock.adjust(shop, key="bolt", delta=-3, because=f"m{n}") for n in (1, 2, 1, 1)]
    assert new == [True, True, False, False]
    levels = shop.execute("SELECT sku, qty FROM stock_levels ORDER BY sku").fetchall()
    assert levels == [("bolt", 94), ("nut", 50)]


def test_one_cause_with_two_deltas_is_refused(shop: sqlite3.Cursor) -> None:
    """One of the two is wrong, and nobody guesses which."""
    stock = CounterAsSet(table="stock", key="sku", quantity="qty")
    stock.create(shop)
    stock.adjust(shop, key="bolt", delta=-3, because="m1")
    with pytest.raises(UsageError, match="by -3 before, and now by -4"):
        stock.adjust(shop, key="bolt", delta=-4, because="m1")


def test_one_cause_may_change_two_things(shop: sqlite3.Cursor) -> None:
    """An order of bolts and nuts takes off both."""
    stock = CounterAsSet(table="stock", key="sku", quantity="qty")
    stock.create(shop)
    assert stock.adjust(shop, key="bolt", delta=-1, because="order 7")
    assert stock.adjust(shop, key="nut", delta=-1, because="order 7")


def test_a_hostile_name_is_refused() -> None:
    """Names are put into statements, so only plain ones are taken."""
    with pytest.raises(UsageError):
        CounterAsSet(table="stock; DROP TABLE stock", key="sku", quantity="qty")
