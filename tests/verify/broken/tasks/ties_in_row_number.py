# cause: row order
# checks: two,partitioning
"""Numbers rows within a region by a column that ties."""

from pyspark.sql import Window
from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.ties_in_row_number",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def ties_in_row_number(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    within = Window.partitionBy("region").orderBy("status")
    return day.withColumn("number", F.row_number().over(within))
