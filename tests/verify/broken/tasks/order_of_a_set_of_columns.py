# cause: hash order
# checks: environment
# slow: starts a second JVM
"""The order of a set decides a text."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.order_of_a_set_of_columns",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def order_of_a_set_of_columns(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    columns = list({"region", "status", "order_id", "customer_id", "weight", "amount"})
    return day.select("day", "order_id", F.concat_ws("|", *columns).alias("digest"))
