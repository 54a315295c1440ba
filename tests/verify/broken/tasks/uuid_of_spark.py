# cause: uuid
# checks: plan
"""A random key from Spark."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.uuid_of_spark",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def uuid_of_spark(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("key", F.expr("uuid()"))
