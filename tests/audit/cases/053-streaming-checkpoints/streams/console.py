from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
rate = spark.readStream.format("rate").load()
rate.writeStream.format("console").outputMode("append").start().awaitTermination()
