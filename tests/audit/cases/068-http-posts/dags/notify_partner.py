from datetime import datetime

from airflow import DAG
from airflow.providers.http.operators.http import HttpOperator

with DAG("notify_partner", start_date=datetime(2024, 1, 1), schedule="@daily", catchup=False) as dag:
    HttpOperator(
        task_id="ship",
        http_conn_id="partner",
        endpoint="/shipments",
        method="POST",
        data='{"day": "{{ ds }}"}',
    )
    HttpOperator(task_id="check", http_conn_id="partner", endpoint="/health", method="GET")
