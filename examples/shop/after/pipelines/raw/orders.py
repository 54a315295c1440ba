"""O1: the nightly copy of the orders."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.raw.orders",
    grain="day",
    write=overwrite(by="order_date"),
    unique_key="order_id",
    checks={"amount_is_positive": "amount >= 0"},
    sources={"orders": Source("source.shop.orders", event_time="ordered_at")},
)
def orders(orders):
    """A day of the shop's orders. The whole day becomes visible at once, or nothing of it."""
    return orders.withColumn("order_date", F.to_date("ordered_at"))
