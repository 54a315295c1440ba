"""The nightly copy of the orders, as a task that owns its day."""

from setpoint import Source, overwrite, task


@task(
    target="lake.shop.orders",
    grain="day",
    write=overwrite(by="order_date"),
    unique_key="order_id",
    sources={"orders": Source("lake.source.orders", event_time="ordered_at")},
)
def nightly_orders(orders):
    """A day's orders, copied into the lake."""
    return orders
