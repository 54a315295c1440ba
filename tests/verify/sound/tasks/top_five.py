# checks: two,partitioning
"""Five rows by a total order."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.top_five",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def top_five(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.orderBy("weight", "order_id").limit(5)
