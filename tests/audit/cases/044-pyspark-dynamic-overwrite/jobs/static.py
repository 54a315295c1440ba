import argparse

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

parser = argparse.ArgumentParser()
parser.add_argument("--day", required=True)
day = parser.parse_args().day

spark = SparkSession.builder.getOrCreate()
rows = spark.table("stage.returns").where(F.col("day") == day)
rows.writeTo("lake.shop.returns").overwrite(F.col("day") == F.lit(day))
rows.write.format("delta").mode("overwrite").option("replaceWhere", f"day = '{day}'").saveAsTable("lake.shop.returns_delta")
spark.table("stage.shops").write.mode("overwrite").saveAsTable("lake.shop.shops")
