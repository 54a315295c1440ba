import uuid

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf


@udf
def new_key():
    return str(uuid.uuid4())


spark = SparkSession.builder.getOrCreate()
spark.table("raw.parts").withColumn("part_key", new_key()).write.mode("overwrite").saveAsTable("mart.parts")
