from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
stock = spark.table("stage.stock")
(
    stock.write.format("delta")
    .mode("overwrite")
    .option("partitionOverwriteMode", "dynamic")
    .partitionBy("warehouse")
    .save("s3a://lake/stock")
)
