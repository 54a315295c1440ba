from datetime import datetime

from airflow import DAG
from airflow.providers.google.cloud.transfers.postgres_to_gcs import PostgresToGCSOperator

with DAG("export_now", start_date=datetime(2024, 1, 1), schedule="@daily", catchup=False) as dag:
    PostgresToGCSOperator(
        task_id="export",
        postgres_conn_id="shop",
        sql="SELECT * FROM orders",
        bucket="lake",
        filename=f"orders/{datetime.now():%Y-%m-%d}.json",
    )
