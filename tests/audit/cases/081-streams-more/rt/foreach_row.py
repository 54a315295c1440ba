import psycopg2
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()


def insert_row(row):
    conn = psycopg2.connect("service=rt")
    with conn, conn.cursor() as cur:
        cur.execute("INSERT INTO alarm (device, at) VALUES (%s, %s)", (row.device, row.at))


alarms = spark.readStream.table("silver.alarms")
alarms.writeStream.foreach(insert_row).option("checkpointLocation", "/chk/alarms").start()
