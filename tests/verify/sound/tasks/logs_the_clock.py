# checks: plan,two,clock
"""The clock is read, for a line of the log only."""

import logging
from datetime import datetime, timezone

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.logs_the_clock",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def logs_the_clock(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    logging.getLogger(__name__).debug("built at %s", datetime.now(timezone.utc))
    return day
