"""O4: the change feed as it was delivered, repeats included."""

from pyspark.sql import functions as F

from setpoint import Source, overwrite, task


@task(
    target="lake.raw.customer_changes",
    grain="day",
    write=overwrite(by="delivered_on"),
    sources={"feed": Source("source.shop.customer_changes", event_time="delivered_at")},
)
def customer_changes(feed):
    """What the feed delivered on a day. It repeats itself, so no key is unique here."""
    return feed.withColumn("delivered_on", F.to_date("delivered_at"))
