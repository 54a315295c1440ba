# cause: row order
# checks: two,partitioning
"""Five rows, whichever they are."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.any_five_rows",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def any_five_rows(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.limit(5)
