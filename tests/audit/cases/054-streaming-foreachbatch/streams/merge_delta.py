from delta.tables import DeltaTable
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()


def upsert(batch, batch_id):
    target = DeltaTable.forName(spark, "silver.users")
    latest = batch.dropDuplicates(["user_id"])
    target.alias("t").merge(latest.alias("s"), "t.user_id = s.user_id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()


spark.readStream.table("bronze.users").writeStream.foreachBatch(upsert).option("checkpointLocation", "/chk/users").start()
