from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("sales").getOrCreate()
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
sales = spark.table("stage.sales")
sales.write.mode("overwrite").partitionBy("country").parquet("s3a://lake/sales")
