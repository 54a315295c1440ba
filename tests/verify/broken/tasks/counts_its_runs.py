# cause: state
# checks: plan
"""Remembers how often it was called."""

import itertools

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task

runs = []
number = itertools.count()


@task(
    target="lake.verified.counts_its_runs",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def counts_its_runs(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    runs.append(1)
    return day.withColumn("run", F.lit(next(number)))
