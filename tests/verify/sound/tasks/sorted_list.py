# checks: two,partitioning
"""A list in an order of its own."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.sorted_list",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def sorted_list(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.groupBy("day", "region").agg(F.array_sort(F.collect_list("order_id")).alias("ids"))
