from datetime import datetime

from airflow import DAG
from airflow.operators.python import PythonOperator
from airflow.providers.postgres.hooks.postgres import PostgresHook


def set_today():
    day = datetime.now().date()
    PostgresHook("w").run(f"UPDATE mart.days SET open = true WHERE day = '{day}'")


def set_told(ds):
    day = ds
    PostgresHook("w").run(f"UPDATE mart.days SET told = true WHERE day = '{day}'")


with DAG("two_days", schedule="@daily", start_date=datetime(2024, 1, 1), catchup=False) as dag:
    PythonOperator(task_id="today", python_callable=set_today)
    PythonOperator(task_id="told", python_callable=set_told)
