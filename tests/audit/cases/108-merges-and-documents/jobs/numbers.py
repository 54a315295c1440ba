from delta.tables import DeltaTable

slots = DeltaTable.forPath(spark, "/lake/slots")
slots.alias("t").merge(
    spark.range(0, 96).alias("s"), "t.id = s.id"
).whenNotMatchedInsertAll().execute()
slots.alias("t").merge(
    spark.read.csv("/in/slots").alias("s"), "t.id = s.id"
).whenNotMatchedInsertAll().execute()
