from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.python import PythonOperator
from airflow.providers.postgres.hooks.postgres import PostgresHook


def copy_customers(**_):
    rows = PostgresHook("shop").get_records("SELECT id, name FROM customers")
    PostgresHook("dwh").insert_rows(
        "dim_customer",
        rows,
        target_fields=["id", "name"],
        replace=True,
        replace_index="id",
    )


with DAG("copy_customers", start_date=datetime(2024, 1, 1), schedule="@daily", catchup=False) as dag:
    PythonOperator(
        task_id="copy_customers",
        python_callable=copy_customers,
        retries=2,
        retry_delay=timedelta(minutes=1),
    )
