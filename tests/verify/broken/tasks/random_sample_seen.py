# cause: chance
# checks: two
"""The same, judged by its rows alone."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.random_sample_seen",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def random_sample_seen(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("draw", F.rand())
