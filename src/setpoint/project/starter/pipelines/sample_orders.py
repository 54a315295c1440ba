"""A made-up source, so that the project runs as it is. Delete it once you have your own."""

from pyspark.sql import functions as F

from setpoint import overwrite, task


@task(
    target="lake.raw.orders",
    grain="day",
    write=overwrite(by="ordered_at"),
    unique_key="order_id",
)
def sample_orders(spark, window):
    """A thousand orders a day, the same ones however often it runs."""
    day = window.start.toordinal() * 1000
    number = F.col("id")
    seconds = F.pmod(F.xxhash64(number, F.lit("second")), F.lit(86_400))
    cents = F.pmod(F.xxhash64(number, F.lit("amount")), F.lit(50_000))
    region = F.element_at(
        F.array(*map(F.lit, ["north", "south", "east", "west"])),
        (F.pmod(F.xxhash64(number, F.lit("region")), F.lit(4)) + 1).cast("int"),
    )
    return spark.range(day, day + 1000).select(
        number.alias("order_id"),
        region.alias("region"),
        (cents / 100).cast("decimal(10,2)").alias("amount"),
        F.timestamp_seconds(F.lit(int(window.start.timestamp())) + seconds).alias("ordered_at"),
    )
