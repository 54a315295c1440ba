from datetime import datetime

from airflow.decorators import dag, task


@dag(start_date=datetime(2024, 1, 1), schedule="0 4 * * *", catchup=False)
def daily_ok():
    @task
    def readings(ds=None):
        from pyspark.sql import SparkSession

        spark = SparkSession.builder.getOrCreate()
        rows = spark.table("raw.readings").where(f"day = '{ds}'")
        rows.write.format("delta").mode("overwrite").option("replaceWhere", f"day = '{ds}'").saveAsTable("lake.readings")

    readings()


daily_ok()
