# cause: chance
# checks: plan
"""Another sample in each run."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.random_sample_of_rows",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def random_sample_of_rows(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    return day.where(F.rand() < 0.5)
