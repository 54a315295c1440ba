# cause: effect
# checks: two,effects
"""Tells the chat while the plan is being built."""

import urllib.request

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.posts_from_the_task",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def posts_from_the_task(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:9/chat", data=b"{}"))
    return day
