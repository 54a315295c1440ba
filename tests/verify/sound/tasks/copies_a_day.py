# checks: plan,two,ten,crash,neighbours,order,batch,month,clock,partitioning,environment,effects
"""A copy of the day: every check."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.copies_a_day",
    grain="day",
    write=overwrite(by="day"),
    unique_key="order_id",
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def copies_a_day(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day
