import sys

from pyspark.sql import SparkSession

from etl.writer import write_day

spark = SparkSession.builder.getOrCreate()
day = sys.argv[1]
write_day(spark.read.json(f"/landing/{day}/*.json"), "/lake/events", day)
