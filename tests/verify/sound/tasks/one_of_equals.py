# checks: two,partitioning
"""Repeats of equal rows are dropped."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.one_of_equals",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def one_of_equals(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.union(day).dropDuplicates()
