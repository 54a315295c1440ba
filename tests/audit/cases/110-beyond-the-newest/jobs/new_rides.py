from pyspark.sql import SparkSession

spark = SparkSession.builder.enableHiveSupport().getOrCreate()
newest = spark.sql("SELECT MAX(ride_id) FROM lake.rides").collect()[0][0]
wanted = "SELECT * FROM rides WHERE ride_id > " + str(newest)
rides = spark.read.format("jdbc").option("url", "jdbc:x").option("query", wanted).load()
rides.write.mode("append").saveAsTable("lake.rides")
rides.write.mode("append").saveAsTable("lake.riders")
