from datetime import datetime

import pyspark.sql.functions as f
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
requests_ = spark.table("raw.api_requests")
today = requests_.filter(f.col("event_date") == datetime.now().strftime("%Y-%m-%d"))
today.write.mode("overwrite").saveAsTable("mart.partner_today")
