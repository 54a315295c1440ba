# cause: clock
# checks: clock
"""A function that asks what day it is."""

from datetime import date

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@F.udf("string")
def today(_order_id):
    return str(date.today())


@task(
    target="lake.verified.clock_in_a_udf",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def clock_in_a_udf(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("run_on", today("order_id"))
