from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
plays = spark.table("silver.plays")
plays.sample(0.01).write.mode("overwrite").saveAsTable("gold.sample_a")
plays.sample(0.01, seed=7).write.mode("overwrite").saveAsTable("gold.sample_b")
plays.withColumn("bucket", (F.rand() * 10).cast("int")).write.mode("overwrite").saveAsTable("gold.ab_test")
plays.withColumn("salt", F.rand(13)).write.mode("overwrite").saveAsTable("gold.salted")
train, test = plays.randomSplit([0.8, 0.2], seed=42)
train.write.mode("overwrite").saveAsTable("gold.train")
test.write.mode("overwrite").saveAsTable("gold.test")
plays.repartition(32, F.rand()).write.mode("overwrite").saveAsTable("gold.spread")
