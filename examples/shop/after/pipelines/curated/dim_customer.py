"""O4: the customer dimension."""

from setpoint import Source, merge, task


@task(
    target="lake.shop.dim_customer",
    grain="day",
    write=merge(on="customer_id", version="seq", delete_when="op = 'D'"),
    sources={"feed": Source("lake.raw.customer_changes", event_time="delivered_on")},
)
def dim_customer(feed):
    """One row a customer: the newest change wins, whenever and however often it arrives."""
    return feed.select("customer_id", "name", "email", "country", "tier", "changed_at", "seq", "op")
