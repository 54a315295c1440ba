# checks: two,partitioning
"""The newest order of a region, by a unique column."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.newest_of_group",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def newest_of_group(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.groupBy("day", "region").agg(F.max_by("status", "order_id").alias("status"))
