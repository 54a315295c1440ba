# cause: own target
# checks: plan
# needs: lake.verified.reads_its_own_table
"""Counts what it has written before."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.reads_its_own_table",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def reads_its_own_table(orders, spark):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    known = spark.table("lake.verified.reads_its_own_table")
    return day.join(known.select("order_id"), "order_id", "left_anti")
