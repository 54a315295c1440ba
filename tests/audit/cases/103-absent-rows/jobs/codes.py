"""Adds to the key table what it lacks, then notes the day's readings."""

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("codes").getOrCreate()

held = spark.read.table("gold.meter_keys")
fresh = (
    spark.read.table("silver.meters").alias("m")
    .join(held.alias("h"), F.col("m.serial") == F.col("h.serial"), "left")
    .filter(F.col("h.serial").isNull())
    .select("m.serial", "m.maker")
)
fresh.write.mode("append").saveAsTable("gold.meter_keys")

readings = spark.read.table("silver.readings").join(held, "serial", "left")
readings.write.mode("append").saveAsTable("gold.readings")
