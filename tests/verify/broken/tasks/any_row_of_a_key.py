# cause: row order
# checks: two,partitioning
"""Whichever row of a region is kept."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.any_row_of_a_key",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def any_row_of_a_key(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.dropDuplicates(["region"])
