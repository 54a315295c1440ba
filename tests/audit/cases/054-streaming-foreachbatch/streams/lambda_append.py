from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
source = spark.readStream.table("bronze.errors")
(
    source.writeStream.foreachBatch(lambda df, n: df.write.mode("append").parquet("s3a://lake/errors"))
    .option("checkpointLocation", "s3a://chk/errors")
    .start()
)
