from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
(
    spark.readStream.format("cloudFiles")
    .option("cloudFiles.format", "csv")
    .option("cloudFiles.schemaLocation", "/chk/invoices/schema")
    .load("/Volumes/landing/invoices")
    .writeStream.option("checkpointLocation", "/chk/invoices")
    .trigger(availableNow=True)
    .toTable("bronze.invoices")
)
