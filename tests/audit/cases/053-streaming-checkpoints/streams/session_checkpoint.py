from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.appName("clicks")
    .config("spark.sql.streaming.checkpointLocation", "/chk/clicks")
    .getOrCreate()
)
clicks = spark.readStream.schema("id string, at timestamp").json("/landing/clicks")
clicks.writeStream.format("parquet").option("path", "/lake/clicks").start().awaitTermination()
