import sys
from datetime import datetime, timedelta

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("trips").getOrCreate()
run_day = sys.argv[1]
yesterday = (datetime.now() - timedelta(days=1)).strftime("%Y-%m-%d")
trips = spark.read.parquet("s3a://raw/trips").filter(F.col("day") == yesterday)
trips.write.mode("overwrite").parquet(f"s3a://curated/trips/day={run_day}")
