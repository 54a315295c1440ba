# cause: clock
# checks: clock
"""The day of the run, as Python's clock has it."""

from datetime import date

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.day_in_python",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def day_in_python(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("run_on", F.lit(str(date.today())))
