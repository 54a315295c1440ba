from datetime import datetime

from airflow import DAG
from airflow.providers.apache.spark.operators.spark_sql import SparkSqlOperator

with DAG("month", start_date=datetime(2024, 1, 1), schedule="@daily", catchup=False) as dag:
    SparkSqlOperator(
        task_id="sales",
        sql="""
            INSERT OVERWRITE TABLE lake.sales PARTITION (month = '{{ ds[:7] }}')
            SELECT sale_id, amount, sold_on FROM landing.sales WHERE sold_on = '{{ ds }}'
        """,
    )
    SparkSqlOperator(
        task_id="returns",
        sql="""
            INSERT OVERWRITE TABLE lake.returns PARTITION (month = '{{ ds[:7] }}')
            SELECT return_id, amount, returned_on FROM landing.returns WHERE substr(returned_on, 1, 7) = '{{ ds[:7] }}'
        """,
    )
