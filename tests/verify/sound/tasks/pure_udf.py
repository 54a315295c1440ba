# checks: two,clock
"""A function of its argument."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@F.udf("long")
def twice(order_id):
    return order_id * 2


@task(
    target="lake.verified.pure_udf",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def pure_udf(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("twice", twice("order_id"))
