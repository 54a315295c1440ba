# cause: environment
# checks: environment
# variables: SHOP_RATE=3
"""A factor from an environment variable."""

import os

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.rate_of_a_variable",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def rate_of_a_variable(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("euros", F.col("order_id") * int(os.getenv("SHOP_RATE", "2")))
