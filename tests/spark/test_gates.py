"""Gates fire inside the write: the run fails, the samples are shown, readers saw nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.errors import GateFailed, ResultMisshapen

if TYPE_CHECKING:
    from tests.spark.conftest import Bench

pytestmark = pytest.mark.spark
TARGET = "lake.shop.orders"


def _gate(shop: Bench) -> GateFailed:
    error = shop.error("2026-04-25")
    assert isinstance(error, GateFailed), error
    assert (error.task, error.window, error.table) == ("orders", "2026-04-25", TARGET)
    assert shop.count(TARGET) == 144
    return error


def test_scenario_26_duplicate_keys_are_refused_with_samples(shop: Bench) -> None:
    """C4: two rows of one key fail the run; the old rows stay."""
    shop.ok("2026-04-25")
    shop.spark.sql(
        "INSERT INTO lake.raw.orders SELECT * FROM lake.raw.orders "
        "WHERE order_id BETWEEN 150 AND 157"
    )
    error = _gate(shop)
    assert error.gate == "unique"
    assert error.facts["expected"] == "one row for each order_id"
    assert error.samples == tuple(f"order_id={n}, rows=2" for n in range(150, 155))


def test_scenario_25_null_keys_are_refused_with_samples(shop: Bench) -> None:
    """C3: a null in a key column fails the run."""
    shop.ok("2026-04-25")
    shop.spark.sql(
        "INSERT INTO lake.raw.orders VALUES (NULL, 1.0, TIMESTAMP '2026-04-25 12:00:00Z')"
    )
    error = _gate(shop)
    assert error.gate == "not_null"
    (sample,) = error.samples
    assert sample.startswith("order_id=None, ")
    assert "ordered_at=2026-04-25 12:00:00" in sample


def test_scenario_28_rows_outside_the_window_are_refused(shop: Bench) -> None:
    """A row that belongs to another day would be added there at each run."""
    shop.ok("2026-04-25")
    shop.python("""
        @task(target="lake.shop.orders", grain="day", write=overwrite(by="order_date"),
              unique_key="order_id",
              sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
        def orders(raw):
            shifted = F.col("ordered_at") + F.expr("INTERVAL 10 MINUTES")
            return raw.withColumn("order_date", F.to_date(shifted))
    """)
    error = _gate(shop)
    assert error.gate == "scope"
    assert error.samples == ("order_id=287, order_date=2026-04-26",)


def test_a_declared_check_is_a_gate(shop: Bench) -> None:
    """A condition of the user's stops the write; null counts as not met."""
    shop.ok("2026-04-25")
    shop.python("""
        @task(target="lake.shop.orders", grain="day", write=overwrite(by="order_date"),
              unique_key="order_id", checks={"small": "amount < 280"},
              sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
        def orders(raw):
            return raw.withColumn("order_date", F.to_date("ordered_at"))
    """)
    error = _gate(shop)
    assert (error.gate, error.facts["expected"]) == ("small", "amount < 280")
    assert len(error.samples) == 5
    assert error.samples[0] == "order_id=280, amount=280.00"


@pytest.mark.parametrize(
    ("limits", "expected"),
    [("min_rows=200", "at least 200 rows"), ("max_rows=100", "at most 100 rows")],
)
def test_the_number_of_rows_is_a_gate(shop: Bench, limits: str, expected: str) -> None:
    """C4: a result that is too small or too large is not written."""
    shop.ok("2026-04-25")
    shop.python(f"""
        @task(target="lake.shop.orders", grain="day", write=overwrite(by="order_date"),
              unique_key="order_id", {limits},
              sources={{"raw": Source("lake.raw.orders", event_time="ordered_at")}})
        def orders(raw):
            return raw.withColumn("order_date", F.to_date("ordered_at"))
    """)
    error = _gate(shop)
    assert (error.gate, error.facts["expected"]) == ("rows", expected)
    assert error.facts["found"] == "144 rows"


def test_a_gate_that_fires_on_a_new_table_leaves_no_rows(shop: Bench) -> None:
    """The first run of a task may fail too."""
    shop.spark.sql("INSERT INTO lake.raw.orders SELECT * FROM lake.raw.orders")
    error = shop.error("2026-04-25")
    assert isinstance(error, GateFailed)
    assert shop.count(TARGET) == 0


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("nothing > 1", "`nothing` cannot be resolved"),
        ("amount >", "Syntax error"),
        ("amount", "is not a boolean"),
        ("count(*) > 1", "aggregate"),
    ],
)
def test_a_check_that_is_no_condition_is_named(shop: Bench, condition: str, words: str) -> None:
    """The fault is the check's, by its name; it is not taken for a gate that fired."""
    shop.python(f"""
        @task(target="lake.shop.orders", grain="day", write=overwrite(by="order_date"),
              unique_key="order_id", checks={{"good": "amount > 0 -- or so", "bad": "{condition}"}},
              sources={{"raw": Source("lake.raw.orders", event_time="ordered_at")}})
        def orders(raw):
            return raw.withColumn("order_date", F.to_date("ordered_at"))
    """)
    error = shop.error("2026-04-25")
    assert isinstance(error, ResultMisshapen)
    assert error.message.startswith("the check bad cannot be made on the result: ")
    assert words in error.message
