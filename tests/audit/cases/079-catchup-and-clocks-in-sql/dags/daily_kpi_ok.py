from datetime import datetime

from airflow import DAG
from airflow.providers.google.cloud.operators.bigquery import BigQueryInsertJobOperator

SQL = """
    BEGIN TRANSACTION;
    DELETE FROM mart.kpi WHERE day = '{{ ds }}';
    INSERT INTO mart.kpi (day, shop_id, revenue, loaded_at)
    SELECT order_day, shop_id, SUM(amount), CURRENT_TIMESTAMP()
    FROM raw.orders WHERE order_day = '{{ ds }}' GROUP BY order_day, shop_id;
    COMMIT TRANSACTION;
"""

with DAG("daily_kpi_ok", start_date=datetime(2023, 1, 1), schedule="@daily", catchup=True) as dag:
    BigQueryInsertJobOperator(task_id="kpi", configuration={"query": {"query": SQL, "useLegacySql": False}})
