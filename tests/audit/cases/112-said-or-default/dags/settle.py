from datetime import datetime

from airflow import DAG
from airflow.operators.python import PythonOperator
from shop.checks import Checker


def check(**context):
    conf = context["dag_run"].conf or {}
    day = conf.get("day", datetime.now().strftime("%Y%m%d"))
    Checker("orders").run(start_date=day)


def check_logical(**context):
    day = context.get("ds_nodash", datetime.now().strftime("%Y%m%d"))
    Checker("orders").run(start_date=day)


def check_now(**context):
    day = datetime.now().strftime("%Y%m%d")
    Checker("orders").run(start_date=day)


with DAG("settle", schedule="@daily", start_date=datetime(2024, 1, 1)) as dag:
    PythonOperator(task_id="check", python_callable=check)
    PythonOperator(task_id="check_logical", python_callable=check_logical)
    PythonOperator(task_id="check_now", python_callable=check_now)
