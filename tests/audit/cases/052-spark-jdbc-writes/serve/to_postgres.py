import psycopg2
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
url = "jdbc:postgresql://db:5432/mart"
props = {"user": "etl", "driver": "org.postgresql.Driver"}

revenue = spark.table("gold.revenue")
revenue.write.jdbc(url, "revenue", mode="append", properties=props)

spark.table("gold.shops").write.jdbc(url, "shops", mode="overwrite", properties=props)

with psycopg2.connect("service=mart") as conn, conn.cursor() as cur:
    cur.execute("TRUNCATE TABLE stage_lines")
spark.table("gold.lines").write.format("jdbc").option("url", url).option("dbtable", "stage_lines").mode("append").save()

with psycopg2.connect("service=mart") as conn, conn.cursor() as cur:
    cur.execute(
        "INSERT INTO lines SELECT * FROM stage_lines "
        "ON CONFLICT (line_id) DO UPDATE SET qty = EXCLUDED.qty, price = EXCLUDED.price"
    )
