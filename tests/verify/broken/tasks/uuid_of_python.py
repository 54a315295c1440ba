# cause: uuid
# checks: plan
"""A random key of the whole run."""

import uuid

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.uuid_of_python",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def uuid_of_python(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("batch", F.lit(str(uuid.uuid4())))
