"""Orders as the rest of the company reads them."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.shop.orders",
    grain="day",
    write=overwrite(by="order_date"),
    unique_key="order_id",
    checks={"amount_is_positive": "amount >= 0"},
    sources={"raw": Source("lake.raw.orders", event_time="ordered_at")},
)
def orders(raw):
    """One row an order, with its day. `raw` holds this window's rows only."""
    return raw.withColumn("order_date", F.to_date("ordered_at"))
