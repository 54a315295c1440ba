from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
counts = spark.readStream.table("bronze.clicks").groupBy("page").count()
counts.writeStream.queryName("live").format("memory").outputMode("complete").start()
