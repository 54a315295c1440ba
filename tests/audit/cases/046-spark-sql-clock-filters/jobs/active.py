from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
logins = spark.table("raw.logins")

recent = logins.filter(F.col("day") >= F.date_sub(F.current_date(), 30))
recent.groupBy("user_id").count().write.mode("overwrite").saveAsTable("mart.active_users")

logins.filter(F.col("day") == F.current_date()).show(5)

stamped = logins.withColumn("loaded_at", F.current_timestamp())
stamped.write.mode("overwrite").saveAsTable("mart.logins_copy")
