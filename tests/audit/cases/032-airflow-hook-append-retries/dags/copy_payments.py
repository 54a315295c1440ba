from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.python import PythonOperator
from airflow.providers.postgres.hooks.postgres import PostgresHook

default_args = {"owner": "finance", "retries": 3, "retry_delay": timedelta(minutes=5)}


def copy_payments(ds, **_):
    source = PostgresHook("shop")
    target = PostgresHook("dwh")
    rows = source.get_records("SELECT id, paid_on, amount FROM payments WHERE paid_on = %s", parameters=(ds,))
    target.insert_rows("fact_payments", rows, target_fields=["id", "paid_on", "amount"], commit_every=1000)


with DAG("copy_payments", start_date=datetime(2024, 1, 1), schedule="@daily", catchup=False, default_args=default_args) as dag:
    PythonOperator(task_id="copy_payments", python_callable=copy_payments)
