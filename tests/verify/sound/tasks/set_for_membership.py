# checks: plan,two
"""A set that only answers whether something is in it."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.set_for_membership",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def set_for_membership(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    kept = {"north", "south"}
    return day.where(F.col("region").isin(sorted(kept)))
