# checks: plan,two,clock
"""A literal from the window."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.labels_by_window",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def labels_by_window(orders, window):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.withColumn("label", F.lit(window.ds))
