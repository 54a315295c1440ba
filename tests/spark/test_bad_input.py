"""What people get wrong: a clear message, the next step, and the table as before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.errors import ResultMisshapen, SourceFault, TransformFailed

if TYPE_CHECKING:
    from tests.spark.conftest import Bench

    from setpoint.errors import SetpointError

pytestmark = pytest.mark.spark

TASK = """
@task(target="lake.shop.orders", grain="day", write=overwrite(by="order_date"),
      sources={{"raw": Source("{table}", event_time="{event}")}})
def orders(raw, spark):
    frame = raw.withColumn("order_date", F.to_date("ordered_at"))
    {body}
"""


def _fails(shop: Bench, body: str = "return frame", **names: str) -> SetpointError:
    names = {"table": "lake.raw.orders", "event": "ordered_at", **names}
    shop.python(TASK.format(body=body, **names))
    error = shop.error("2026-04-25")
    assert error.next_step
    assert "Traceback" not in error.message
    assert "\tat " not in error.message
    return error


def test_a_missing_source_table_is_named(shop: Bench) -> None:
    """The task, the source and its table."""
    error = _fails(shop, table="lake.raw.nowhere")
    assert isinstance(error, SourceFault)
    assert "raw" in error.message
    assert "lake.raw.nowhere" in error.message


def test_a_missing_event_time_column_is_named(shop: Bench) -> None:
    """With the columns that there are."""
    error = _fails(shop, event="order_time")
    assert isinstance(error, SourceFault)
    assert "'order_time'" in error.message
    assert "ordered_at" in error.facts["columns"]


def test_an_event_time_that_is_no_time_is_refused(shop: Bench) -> None:
    """A number cannot be bounded by a window."""
    assert "cannot be bounded by time" in _fails(shop, event="amount").message


def test_a_result_without_the_partition_column_is_refused(shop: Bench) -> None:
    """It could not be told which window a row belongs to."""
    error = _fails(shop, "return raw")
    assert isinstance(error, ResultMisshapen)
    assert "'order_date'" in error.message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('no such rate')", "ValueError: no such rate at pipelines/tasks.py:8"),
        ("return None", "returned NoneType, not a DataFrame"),
        ("raise SystemExit(0)", "orders raised SystemExit: 0 at pipelines/tasks.py:8"),
        ("return frame.select('nothing')", "name `nothing` cannot be resolved"),
        ("return spark.sql('SELEC 1')", "does not parse"),
    ],
)
def test_a_transform_that_fails_is_told_in_one_line(shop: Bench, body: str, words: str) -> None:
    """The user's own error with file and line; Spark's without a stack."""
    error = _fails(shop, body)
    assert isinstance(error, TransformFailed)
    assert words in error.message
    assert "\n" not in error.message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('return frame.withColumn("z", F.lit(None))', "z unknown"),
        ('return frame.withColumn("z", F.expr("INTERVAL 1 DAY"))', "interval day"),
    ],
)
def test_a_type_that_the_table_cannot_hold_is_named(shop: Bench, body: str, words: str) -> None:
    """A bare NULL and an interval: the column's type is to blame, not Spark."""
    error = _fails(shop, body)
    assert isinstance(error, ResultMisshapen)
    assert words in error.message
    assert "java" not in error.message


def test_the_line_is_that_of_the_task_file_and_not_of_one_that_ends_alike(shop: Bench) -> None:
    """A task in t.py that fails inside Spark's own context.py is shown with its own line."""
    shop.python(
        """
        @task(target="lake.shop.t", write=replace())
        def t(spark):
            return spark.sparkContext.parallelize(5, 2)
        """,
        name="t",
    )
    error = shop.error("2026-04-25", select=("t",))
    assert error.message.endswith("at pipelines/t.py:6")


def test_python_code_that_fails_on_a_row_is_told_in_one_line(shop: Bench) -> None:
    """A UDF's error is shown as Python says it, without the JVM's stack."""
    body = 'return frame.withColumn("x", F.udf(lambda n: str(1 // (n - n)))("order_id"))'
    error = _fails(shop, body)
    assert isinstance(error, TransformFailed)
    assert "ZeroDivisionError" in error.message


def test_a_connection_that_drops_in_the_transform_is_retried(shop: Bench) -> None:
    """F1: transient faults are told from permanent ones by their class."""
    shop.python("""
        calls = []

        @task(target="lake.shop.orders", grain="day", write=overwrite(by="order_date"), retries=3,
              sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
        def orders(raw):
            calls.append(1)
            if len(calls) < 3:
                raise ConnectionResetError("peer went away")
            return raw.withColumn("order_date", F.to_date("ordered_at"))
    """)
    (result,) = shop.ok("2026-04-25")
    assert (result.attempts, len(shop.waits), result.rows) == (3, 2, 144)


def test_sql_that_does_not_parse_is_refused_by_spark_with_its_place(shop: Bench) -> None:
    """The message names the task; the table is not made."""
    shop.sql(
        """
        /*
        target: lake.shop.broken
        grain: day
        write: {overwrite: {by: d}}
        */
        SELECT (1 AS d
        """,
        "broken",
    )
    error = shop.error("2026-04-25", select=("broken",))
    assert isinstance(error, TransformFailed)
    assert "does not parse" in error.message
    assert not shop.exists("lake.shop.broken")


def test_scenario_31_a_changed_schema_is_refused_with_what_to_type(shop: Bench) -> None:
    """A column added, gone, or of another type: told before the write, old rows intact."""
    shop.ok("2026-04-25")
    added = _fails(shop, 'return frame.withColumn("tax", F.lit(1))')
    assert added.next_step == "ALTER TABLE lake.shop.orders ADD COLUMN tax int"
    gone = _fails(shop, 'return frame.drop("amount")')
    assert isinstance(gone, ResultMisshapen)
    assert gone.facts["missing"] == "amount"
    other = _fails(shop, 'return frame.withColumn("amount", F.lit("much"))')
    assert isinstance(other, ResultMisshapen)
    assert shop.count("lake.shop.orders") == 144


def test_scenario_31_a_narrower_type_is_widened_by_the_table(shop: Bench) -> None:
    """An int into a bigint column is no change."""
    shop.ok("2026-04-25")
    shop.python(
        TASK.format(
            table="lake.raw.orders",
            event="ordered_at",
            body='return frame.withColumn("order_id", F.col("order_id").cast("int"))',
        )
    )
    assert shop.ok("2026-04-25")[0].rows == 144


def test_scenario_34_odd_names_are_quoted(shop: Bench) -> None:
    """Spaces, quotes, semicolons and unicode in names of tables and columns do what they say."""
    odd = "o'r \"d;é--r"
    shop.python(
        f"""
        @task(target="lake.shop.`{odd}`".replace('"', '"'), grain="day",
              write=overwrite(by="the day; DROP"), unique_key=["the id"],
              sources={{"raw": Source("lake.raw.orders", event_time="ordered_at")}})
        def orders(raw):
            return raw.select(F.col("order_id").alias("the id"),
                              F.to_date("ordered_at").alias("the day; DROP"))
    """.replace(odd, odd.replace('"', '\\"'))
    )
    assert shop.ok("2026-04-25")[0].rows == 144
    assert shop.ok("2026-04-25")[0].replaced == 144
