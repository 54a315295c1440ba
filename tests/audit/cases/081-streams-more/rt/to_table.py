from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.readStream.table("bronze.clicks").where("bot = false").writeStream.outputMode("append").toTable("silver.clicks")
