import psycopg2
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
SQL = "INSERT INTO level (tank, at, litres) VALUES (%s, %s, %s) ON CONFLICT (tank, at) DO UPDATE SET litres = EXCLUDED.litres"


def store(batch, batch_id):
    with psycopg2.connect("service=rt") as conn, conn.cursor() as cur:
        cur.executemany(SQL, [tuple(row) for row in batch.collect()])


spark.readStream.table("silver.levels").writeStream.foreachBatch(store).option("checkpointLocation", "/chk/levels").start()
