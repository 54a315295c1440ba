import os
import random
import string
import uuid

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
orders = spark.table("lake.orders")

number = "row_%s" % "".join(random.sample(string.ascii_lowercase, 6))
newest = Window.partitionBy("order_id").orderBy(F.col("changed_at").desc())
latest = orders.select("*", F.row_number().over(newest).alias(number))
latest = latest.where(F.col(number) == F.lit(1)).drop(number)
latest.write.mode("overwrite").saveAsTable("lake.orders_latest")

scratch = "scratch_%s" % "".join(random.sample(string.ascii_lowercase, 6))
latest.createOrReplaceTempView(scratch)
spark.sql("INSERT OVERWRITE TABLE lake.orders_copy SELECT * FROM %s" % scratch)

some = orders.where(F.rand() < 0.1)
some.write.mode("overwrite").saveAsTable("lake.orders_some")

folder = f"/tmp/box/{uuid.uuid4()}"
for path in [os.path.join(folder, name) for name in os.listdir("inbox")]:
    rows = spark.read.csv(path).withColumn("file_name", F.lit(os.path.basename(path)))
    rows.write.mode("overwrite").saveAsTable("lake.inbox")

paged = orders.withColumn("row_num", F.monotonically_increasing_id())
paged.write.mode("overwrite").saveAsTable("lake.paged")
keyed = orders.withColumn("order_key", F.monotonically_increasing_id())
keyed.write.mode("overwrite").saveAsTable("lake.keyed")
