# cause: row order
# checks: two,partitioning
"""The orders of a region as one text."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.text_of_group",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def text_of_group(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    ids = F.concat_ws(",", F.collect_list(F.col("order_id").cast("string")))
    return day.groupBy("day", "region").agg(ids.alias("ids"))
