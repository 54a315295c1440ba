from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
raw = spark.read.table("lake.telemetry")
scored = raw.withColumn("wear", F.when(F.col("vibration") > 3, 0.9).otherwise(0.1))
scored.write.mode("append").saveAsTable("lake.wear_scores")
