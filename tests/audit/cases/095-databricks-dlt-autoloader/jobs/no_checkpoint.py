from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
stream = spark.readStream.format("delta").table("bronze.payments")
query = stream.writeStream.format("delta").outputMode("append").start("/lake/silver/payments")
query.awaitTermination()
