from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
orders = spark.table("gold.orders")
keyed = orders.selectExpr("CAST(order_id AS STRING) AS key", "to_json(struct(*)) AS value")
keyed.write.format("kafka").option("kafka.bootstrap.servers", "k:9092").option("topic", "orders").save()
plain = orders.selectExpr("to_json(struct(*)) AS value")
plain.write.format("kafka").option("kafka.bootstrap.servers", "k:9092").option("topic", "orders_raw").save()
