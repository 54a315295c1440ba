from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import Window
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
newest = Window.partitionBy("account_id").orderBy(F.col("changed_at").desc(), F.col("seq").desc())
changes = (
    spark.table("bronze.account_changes")
    .withColumn("rn", F.row_number().over(newest))
    .where("rn = 1")
    .drop("rn")
)
target = DeltaTable.forName(spark, "silver.accounts")
(
    target.alias("t")
    .merge(changes.alias("s"), "t.account_id = s.account_id")
    .whenMatchedUpdateAll(condition="s.changed_at > t.changed_at")
    .whenNotMatchedInsertAll()
    .execute()
)
