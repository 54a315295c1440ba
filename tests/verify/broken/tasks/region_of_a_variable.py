# cause: environment
# checks: environment
# variables: SHOP_REGION=north
"""A filter by an environment variable."""

import os

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.region_of_a_variable",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def region_of_a_variable(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.where(F.col("region") == os.environ.get("SHOP_REGION", "north"))
