from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()


def fan_out(batch, batch_id):
    writer = batch.write.format("delta").option("txnAppId", "fan_out").option("txnVersion", batch_id)
    writer.mode("append").saveAsTable("silver.orders")


spark.readStream.table("bronze.orders").writeStream.foreachBatch(fan_out).option("checkpointLocation", "/chk/fan").start()
