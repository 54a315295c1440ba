# checks: two,partitioning
"""A sum of decimals."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.sums_decimals",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def sums_decimals(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.groupBy("day", "region").agg(F.sum("amount").alias("amount"))
