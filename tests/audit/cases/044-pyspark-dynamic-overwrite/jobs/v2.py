from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.table("stage.returns").writeTo("lake.shop.returns").overwritePartitions()
