# cause: chance, udf
# checks: two
"""A function that draws a number for each row."""

import random

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@F.udf("double")
def draw(_order_id):
    return random.random()


@task(
    target="lake.verified.chance_in_a_udf",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def chance_in_a_udf(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("draw", draw("order_id"))
