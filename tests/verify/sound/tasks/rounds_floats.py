# checks: two,partitioning
"""A sum of floats, made of decimals."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.rounds_floats",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def rounds_floats(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    weight = F.sum(F.col("weight").cast("decimal(18,6)"))
    return day.groupBy("day").agg(weight.alias("weight"))
