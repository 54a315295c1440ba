# cause: effect
# checks: two,effects
"""Mails while the plan is being built."""

import smtplib

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.verified.mails_from_the_task",
    grain="day",
    write=overwrite(by="day"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def mails_from_the_task(orders):
    day = orders.withColumn("day", F.to_date("ordered_at"))
    with smtplib.SMTP("127.0.0.1", 9) as smtp:
        smtp.sendmail("jobs@shop.example", ["team@shop.example"], "Subject: done")
    return day
