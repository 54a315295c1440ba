# checks: plan,two
"""A sample by a hash of the key."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.seeded_sample",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def seeded_sample(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.where(F.pmod(F.xxhash64("order_id"), F.lit(2)) == 0)
