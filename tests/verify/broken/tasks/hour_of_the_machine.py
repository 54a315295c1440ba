# cause: environment, clock
# checks: environment
"""An hour in the time zone of the machine."""

from datetime import datetime

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.hour_of_the_machine",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def hour_of_the_machine(orders, window):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    hour = datetime.fromtimestamp(window.start.timestamp()).hour
    return day.withColumn("opened_at", F.lit(hour))
