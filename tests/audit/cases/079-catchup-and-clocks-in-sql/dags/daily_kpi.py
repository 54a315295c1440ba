from datetime import datetime

from airflow import DAG
from airflow.providers.google.cloud.operators.bigquery import BigQueryInsertJobOperator

SQL = """
    CREATE OR REPLACE TABLE mart.kpi_yesterday AS
    SELECT shop_id, SUM(amount) AS revenue
    FROM raw.orders
    WHERE order_day = DATE_SUB(CURRENT_DATE(), INTERVAL 1 DAY)
    GROUP BY shop_id
"""

with DAG("daily_kpi", start_date=datetime(2023, 1, 1), schedule="@daily", catchup=True) as dag:
    BigQueryInsertJobOperator(task_id="kpi", configuration={"query": {"query": SQL, "useLegacySql": False}})
