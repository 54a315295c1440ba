from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
orders = spark.read.json("s3a://landing/orders/")
dated = orders.withColumn("order_date", F.to_date("ordered_at")).withColumn("_ingested_at", F.current_timestamp())
dated.write.format("delta").mode("overwrite").partitionBy("order_date").saveAsTable("bronze.orders")
