from datetime import datetime

from airflow import DAG
from airflow.providers.google.cloud.transfers.gcs_to_bigquery import GCSToBigQueryOperator

with DAG("taxi", start_date=datetime(2021, 1, 1), schedule=None, catchup=False) as dag:
    GCSToBigQueryOperator(
        task_id="load",
        bucket="taxi",
        source_objects=["data/*.csv"],
        destination_project_dataset_table="acme.taxi.trips",
    )
