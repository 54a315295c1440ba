# checks: two,partitioning
"""Numbers rows by a unique order."""

from pyspark.sql import Window
from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.total_order",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def total_order(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    within = Window.partitionBy("region").orderBy("status", "order_id")
    return day.withColumn("number", F.row_number().over(within))
