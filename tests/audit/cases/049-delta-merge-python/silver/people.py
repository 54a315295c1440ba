from delta.tables import DeltaTable
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
people = spark.table("bronze.people").dropDuplicates(["phone_number"])
(
    DeltaTable.forName(spark, "silver.people").alias("t")
    .merge(people.alias("s"), "t.phone_number = s.phone_number")
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .execute()
)
