from datetime import datetime

from airflow.decorators import dag, task


@dag(start_date=datetime(2024, 1, 1), schedule="0 */6 * * *", catchup=False)
def six_hours():
    @task
    def readings(ds=None, data_interval_start=None, data_interval_end=None):
        from pyspark.sql import SparkSession
        from pyspark.sql import functions as F

        spark = SparkSession.builder.getOrCreate()
        rows = spark.table("raw.readings").where(
            (F.col("at") >= str(data_interval_start)) & (F.col("at") < str(data_interval_end))
        )
        rows.write.format("delta").mode("overwrite").option("replaceWhere", f"day = '{ds}'").saveAsTable("lake.readings")

    readings()


six_hours()
