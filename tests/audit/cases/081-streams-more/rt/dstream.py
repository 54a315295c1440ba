from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.streaming import StreamingContext

sc = SparkContext(appName="words")
ssc = StreamingContext(sc, 10)


def save(time, rdd):
    spark = SparkSession.builder.getOrCreate()
    if not rdd.isEmpty():
        spark.createDataFrame(rdd, ["word", "n"]).write.mode("append").parquet("/lake/words")


ssc.socketTextStream("feed", 9999).map(lambda w: (w, 1)).reduceByKey(lambda a, b: a + b).foreachRDD(save)
ssc.start()
ssc.awaitTermination()
