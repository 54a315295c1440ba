from delta.tables import DeltaTable
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
changes = spark.table("bronze.account_changes")
target = DeltaTable.forName(spark, "silver.accounts")
(
    target.alias("t")
    .merge(changes.alias("s"), "t.account_id = s.account_id")
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .execute()
)
