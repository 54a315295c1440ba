# cause: clock
# checks: plan
"""A column from Spark's clock."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.clock_column",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def clock_column(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("loaded_at", F.current_timestamp())
