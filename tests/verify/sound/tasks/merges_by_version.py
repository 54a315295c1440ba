# checks: two,crash,neighbours,order,month
"""One row a customer; the newest order wins, in whatever order windows arrive."""

from pyspark.sql import functions as F

from setpoint import Source, merge, task


@task(
    target="lake.verified.merges_by_version",
    grain="day",
    write=merge(on="customer_id", version="order_id"),
    sources={"orders": Source("lake.raw.orders", event_time="ordered_at")},
)
def merges_by_version(orders):
    newest = orders.groupBy("customer_id").agg(F.max("order_id").alias("order_id"))
    return newest.withColumn(
        "status", F.concat(F.lit("seen with "), F.col("order_id").cast("string"))
    )
