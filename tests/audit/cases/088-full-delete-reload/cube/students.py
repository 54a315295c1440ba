import pandas as pd
from pyspark.sql import SparkSession


def extract(url):
    spark = SparkSession.builder.getOrCreate()
    frame = spark.createDataFrame(pd.read_csv(url))
    spark.sql("DROP TABLE IF EXISTS students")
    frame.write.format("delta").mode("append").saveAsTable("students")
