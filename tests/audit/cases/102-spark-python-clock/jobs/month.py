from datetime import date

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
month = date.today().replace(day=1)
spark.sql(f"CREATE OR REPLACE TABLE mart.month AS SELECT * FROM raw.sales WHERE sold_on >= '{month}'")
