# cause: row order
# checks: two,partitioning
"""The row before, in an order that ties."""

from pyspark.sql import Window
from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.lag_over_ties",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def lag_over_ties(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    within = Window.partitionBy("region").orderBy("status")
    return day.withColumn("before", F.lag("order_id").over(within))
