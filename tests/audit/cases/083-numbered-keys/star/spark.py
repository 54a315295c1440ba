from pyspark.sql import SparkSession
from pyspark.sql import Window
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
parts = spark.table("raw.parts")
keyed = parts.select(F.row_number().over(Window.orderBy(F.lit(1))).alias("part_key"), "part_no")
keyed.write.mode("overwrite").saveAsTable("star.dim_part")
indexed = parts.withColumn("i", F.monotonically_increasing_id()).orderBy("i").drop("i")
indexed.write.mode("overwrite").saveAsTable("star.parts_sorted")
