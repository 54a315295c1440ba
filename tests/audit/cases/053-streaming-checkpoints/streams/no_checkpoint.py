from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
events = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "kafka:9092").option("subscribe", "events").load()
query = events.selectExpr("CAST(value AS STRING) AS body").writeStream.format("parquet").option("path", "/lake/events").start()
query.awaitTermination()
