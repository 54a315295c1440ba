# cause: row order
# checks: two,partitioning
"""The orders of a region in the order of arrival."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.list_of_group",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def list_of_group(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.groupBy("day", "region").agg(F.collect_list("order_id").alias("ids"))
