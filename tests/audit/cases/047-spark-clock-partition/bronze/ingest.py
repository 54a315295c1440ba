from datetime import datetime

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
raw = spark.read.json("s3a://landing/devices/")
dated = raw.withColumn("ingest_date", F.current_date())
dated.write.format("delta").mode("append").partitionBy("ingest_date").saveAsTable("bronze.devices")
