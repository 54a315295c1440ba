from datetime import datetime

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
now = datetime.utcnow()
folder = f"year={now.year}/month={now.month:02}/day={now.day:02}"
spark.read.json("s3a://landing/mails/").write.mode("overwrite").json("s3a://bronze/mails/" + folder)
