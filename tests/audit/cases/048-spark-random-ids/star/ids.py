import uuid

from pyspark.sql import SparkSession
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

spark = SparkSession.builder.getOrCreate()
plays = spark.table("silver.plays")

by_spark = plays.withColumn("play_id", F.monotonically_increasing_id())
by_spark.write.mode("overwrite").saveAsTable("gold.plays_a")

by_uuid = plays.withColumn("play_id", F.expr("uuid()"))
by_uuid.write.mode("overwrite").saveAsTable("gold.plays_b")

new_id = F.udf(lambda: str(uuid.uuid4()), StringType())
plays.withColumn("play_id", new_id()).write.mode("overwrite").saveAsTable("gold.plays_c")

numbered = plays.withColumn("play_id", F.row_number().over(Window.orderBy("started_at")))
numbered.write.mode("overwrite").saveAsTable("gold.plays_d")

hashed = plays.withColumn("play_id", F.sha2(F.concat_ws("|", "user_id", "started_at", "track_id"), 256))
hashed.write.mode("overwrite").saveAsTable("gold.plays_e")

last = Window.partitionBy("user_id").orderBy(F.col("started_at").desc())
newest = plays.withColumn("rn", F.row_number().over(last)).where("rn = 1").drop("rn")
newest.write.mode("overwrite").saveAsTable("gold.last_play")
