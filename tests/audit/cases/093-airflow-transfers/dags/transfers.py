from datetime import datetime

from airflow import DAG
from airflow.providers.amazon.aws.transfers.s3_to_redshift import S3ToRedshiftOperator
from airflow.providers.google.cloud.transfers.bigquery_to_bigquery import BigQueryToBigQueryOperator
from airflow.providers.google.cloud.transfers.postgres_to_gcs import PostgresToGCSOperator

with DAG("transfers", start_date=datetime(2024, 1, 1), schedule="@daily", catchup=False) as dag:
    append = S3ToRedshiftOperator(
        task_id="append",
        schema="raw",
        table="events",
        s3_bucket="landing",
        s3_key="events/{{ ds }}/",
        copy_options=["FORMAT AS PARQUET"],
        method="APPEND",
    )
    upsert = S3ToRedshiftOperator(
        task_id="upsert",
        schema="raw",
        table="users",
        s3_bucket="landing",
        s3_key="users/{{ ds }}/",
        method="UPSERT",
        upsert_keys=["user_id"],
    )
    replace = S3ToRedshiftOperator(
        task_id="replace",
        schema="raw",
        table="countries",
        s3_bucket="landing",
        s3_key="countries/",
        method="REPLACE",
    )
    export = PostgresToGCSOperator(
        task_id="export",
        postgres_conn_id="shop",
        sql="SELECT * FROM orders WHERE day = '{{ ds }}'",
        bucket="lake",
        filename="orders/{{ ds }}.json",
    )
    copy = BigQueryToBigQueryOperator(
        task_id="copy",
        source_project_dataset_tables="acme.raw.orders",
        destination_project_dataset_table="acme.hist.orders",
        write_disposition="WRITE_APPEND",
    )
