# cause: row order
# checks: two,partitioning
"""Whichever order of a region comes first."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.first_of_group",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def first_of_group(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.groupBy("day", "region").agg(F.first("order_id").alias("order_id"))
