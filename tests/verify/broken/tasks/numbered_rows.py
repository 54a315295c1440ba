# cause: row order
# checks: plan
"""Numbers by where a row lies."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.numbered_rows",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def numbered_rows(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("number", F.monotonically_increasing_id())
