"""O3: payments from their provider, for the window of the run and no other."""

import os
import time

import requests
from pyspark.sql import functions as F

from setpoint import overwrite, task

PATIENCE = 5
SCHEMA = "id string, customer_id int, amount_cents long, status string, created long"


@task(
    target="lake.raw.payments",
    grain="day",
    write=overwrite(by="created_on"),
    unique_key="payment_id",
)
def payments(spark, window):
    """A day's payments. The provider is asked for the window's bounds, never for "until now"."""
    fetched = spark.createDataFrame(fetch(window.start, window.end), SCHEMA)
    moment = F.timestamp_seconds("created")
    return fetched.select(
        F.col("id").alias("payment_id"),
        "customer_id",
        (F.col("amount_cents") / 100).cast("decimal(10,2)").alias("amount"),
        "status",
        moment.alias("created_at"),
        F.to_date(moment).alias("created_on"),
    )


def fetch(start, end):
    """All pages of the payments created in [start, end)."""
    asked = {"created_gte": int(start.timestamp()), "created_lt": int(end.timestamp())}
    rows = []
    while True:
        page = get_page(asked)
        rows += [tuple(payment.values()) for payment in page["data"]]
        if not page["has_more"]:
            return rows
        asked["starting_after"] = page["data"][-1]["id"]


def get_page(asked):
    """One page. A provider that is busy is asked again after the time that it names."""
    for _ in range(PATIENCE):
        url = os.environ["PAYMENTS_URL"] + "/v1/payments"
        answer = requests.get(url, params=asked, timeout=30)
        if answer.status_code not in {429, 503}:
            break
        time.sleep(float(answer.headers.get("Retry-After", "1")))
    answer.raise_for_status()
    return answer.json()
