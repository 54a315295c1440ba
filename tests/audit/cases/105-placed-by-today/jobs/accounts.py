import datetime

from pyspark.sql import SparkSession
from pyspark.sql.functions import lit


def closing_day():
    today = datetime.date.today()
    return today.replace(day=1) + datetime.timedelta(days=6)


spark = SparkSession.builder.getOrCreate()
accounts = spark.read.csv("raw/accounts.csv", header=True)
accounts = accounts.withColumn("closing", lit(closing_day()))
accounts.write.mode("overwrite").partitionBy("closing").parquet("lake/accounts")
