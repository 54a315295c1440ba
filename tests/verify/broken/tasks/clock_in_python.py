# cause: clock
# checks: plan
"""A literal from Python's clock."""

from datetime import datetime, timezone

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.clock_in_python",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def clock_in_python(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("loaded_at", F.lit(datetime.now(timezone.utc).isoformat()))
