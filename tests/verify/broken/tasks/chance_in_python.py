# cause: chance
# checks: plan
"""A random number of the whole run."""

import random

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.chance_in_python",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def chance_in_python(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("draw", F.lit(random.random()))
