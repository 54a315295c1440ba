"""O2: orders and revenue per customer and day, for the sales dashboard."""

from pyspark.sql import functions as F

from setpoint import Source, replace, task


@task(
    target="mart.serving.daily_customer_summary",
    grain="day",
    write=replace(by="order_date"),
    unique_key=["order_date", "customer_id"],
    sources={"orders": Source("lake.raw.orders", event_time="order_date")},
)
def daily_customer_summary(orders):
    """The day's rows are deleted and inserted in one transaction: a dashboard sees no gap."""
    return orders.groupBy("order_date", "customer_id").agg(
        F.count("*").alias("orders"), F.sum("amount").cast("decimal(14,2)").alias("revenue")
    )
