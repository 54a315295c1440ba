from datetime import datetime

from airflow import DAG
from airflow.providers.google.cloud.transfers.gcs_to_bigquery import GCSToBigQueryOperator

with DAG("bq_quarter_hour", start_date=datetime(2024, 1, 1), schedule="*/15 * * * *", catchup=False) as dag:
    GCSToBigQueryOperator(
        task_id="load",
        bucket="landing",
        source_objects=["pos/{{ ts_nodash }}.json"],
        destination_project_dataset_table="acme.pos.tickets${{ ds_nodash }}",
        write_disposition="WRITE_TRUNCATE",
    )
