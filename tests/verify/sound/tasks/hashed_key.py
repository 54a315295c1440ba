# checks: plan,two
"""A key made of the row."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.hashed_key",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def hashed_key(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("key", F.sha2(F.col("order_id").cast("string"), 256))
