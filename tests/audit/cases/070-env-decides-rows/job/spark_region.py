import os

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.master(os.getenv("SPARK_MASTER", "local[2]")).getOrCreate()
region = os.getenv("REGION")
orders = spark.table("raw.orders").filter(F.col("region") == region)
orders.write.mode("overwrite").saveAsTable("mart.orders_region")
