# checks: two,partitioning,environment
"""Counts, distinct counts, least and most."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.counts",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def counts(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.groupBy("day").agg(
        F.count("*").alias("orders"),
        F.countDistinct("customer_id").alias("customers"),
        F.min("order_id").alias("first_id"),
        F.max("order_id").alias("last_id"),
    )
