from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
URL = "jdbc:postgresql://db/rt"


def to_postgres(batch, batch_id):
    batch.write.format("jdbc").option("url", URL).option("dbtable", "ticks").mode("append").save()


ticks = spark.readStream.table("bronze.ticks")
ticks.writeStream.foreachBatch(to_postgres).option("checkpointLocation", "/chk/ticks").start().awaitTermination()
