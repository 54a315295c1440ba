# cause: float
# checks: two,partitioning
"""A mean of floats."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.mean_of_floats",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def mean_of_floats(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.groupBy("day").agg(F.avg("weight").alias("weight"))
