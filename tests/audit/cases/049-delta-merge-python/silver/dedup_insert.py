from delta.tables import DeltaTable
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
logs = spark.table("bronze.requests").dropDuplicates(["request_id"])
(
    DeltaTable.forName(spark, "silver.requests").alias("t")
    .merge(logs.alias("s"), "t.request_id = s.request_id")
    .whenNotMatchedInsertAll()
    .execute()
)
