from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
open_offers = spark.sql(
    "SELECT offer_id, price FROM raw.offers WHERE valid_until > current_timestamp()"
)
open_offers.write.mode("overwrite").saveAsTable("mart.open_offers")
