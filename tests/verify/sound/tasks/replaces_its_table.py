# checks: two,crash,partitioning
"""A small table, set whole."""

from pyspark.sql import functions as F

from setpoint import Source, replace, task


@task(
    target="lake.verified.replaces_its_table",
    write=replace(),
    sources={"orders": Source("lake.raw.orders", static=True)},
)
def replaces_its_table(orders):
    return orders.groupBy("region").agg(F.count("*").alias("orders"))
