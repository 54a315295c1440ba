# cause: emptied
# checks: text,two
"""Dynamic overwrite: a day that became empty keeps its old rows."""

import sqlite3
import sys


def write(spark, day):
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    orders = spark.read.parquet("raw/orders").where(f"day = '{day}'")
    orders.write.mode("overwrite").partitionBy("day").parquet("orders")


if __name__ == "__main__" and len(sys.argv) > 2:
    from pyspark.sql import SparkSession

    write(SparkSession.builder.getOrCreate(), sys.argv[1])
else:
    sqlite3.connect("shop.db").execute("CREATE TABLE IF NOT EXISTS log (day TEXT)")
