# cause: clock
# checks: plan
"""A filter by Spark's clock."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.clock_filter",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def clock_filter(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.where(F.col("ordered_at") < F.now())
