# cause: uuid
# checks: two
"""A function that makes a key for each row."""

import uuid

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@F.udf("string")
def key(_order_id):
    return str(uuid.uuid4())


@task(
    target="lake.verified.uuid_in_a_udf",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def uuid_in_a_udf(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("key", key("order_id"))
