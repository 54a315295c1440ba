from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
events = spark.readStream.table("bronze.events")
(
    events.writeStream.format("delta")
    .outputMode("append")
    .option("checkpointLocation", "/chk/events")
    .toTable("silver.events")
    .awaitTermination()
)
