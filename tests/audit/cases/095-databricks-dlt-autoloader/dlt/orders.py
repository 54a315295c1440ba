import dlt
from pyspark.sql import functions as F


@dlt.table(name="bronze_orders")
def bronze_orders():
    return (
        spark.readStream.format("cloudFiles")
        .option("cloudFiles.format", "json")
        .load("/Volumes/landing/orders")
        .withColumn("_ingested_at", F.current_timestamp())
    )


dlt.create_streaming_table("silver_orders")
dlt.apply_changes(
    target="silver_orders",
    source="bronze_orders",
    keys=["order_id"],
    sequence_by=F.col("updated_at"),
)
