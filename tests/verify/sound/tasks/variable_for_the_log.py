# checks: two,environment
# variables: SHOP_REGION=north
"""A variable is read, for a line of the log only."""

import logging
import os

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.variable_for_the_log",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def variable_for_the_log(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    logging.getLogger(__name__).debug("here: %s", os.environ.get("SHOP_REGION"))
    return day
