from datetime import datetime

from airflow import DAG
from airflow.providers.google.cloud.operators.bigquery import BigQueryInsertJobOperator
from airflow.providers.google.cloud.transfers.gcs_to_bigquery import GCSToBigQueryOperator

with DAG("cars", start_date=datetime(2024, 2, 1), schedule="@daily", catchup=False) as dag:
    append = GCSToBigQueryOperator(
        task_id="append",
        bucket="acme-landing",
        source_objects=["cars/{{ ds }}/*.csv"],
        destination_project_dataset_table="acme.raw.cars",
        write_disposition="WRITE_APPEND",
    )
    replace_day = GCSToBigQueryOperator(
        task_id="replace_day",
        bucket="acme-landing",
        source_objects=["cars/{{ ds }}/*.csv"],
        destination_project_dataset_table="acme.raw.cars_by_day${{ ds_nodash }}",
        write_disposition="WRITE_TRUNCATE",
    )
    summary = BigQueryInsertJobOperator(
        task_id="summary",
        configuration={
            "query": {
                "query": "SELECT make, COUNT(*) AS n FROM raw.cars_by_day WHERE day = '{{ ds }}' GROUP BY make",
                "destinationTable": {"projectId": "acme", "datasetId": "mart", "tableId": "makes${{ ds_nodash }}"},
                "writeDisposition": "WRITE_TRUNCATE",
                "useLegacySql": False,
            }
        },
    )
    [append, replace_day] >> summary
