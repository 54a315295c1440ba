from datetime import date, datetime

import requests
from airflow import DAG
from airflow.operators.python import PythonOperator
from airflow.providers.amazon.aws.hooks.s3 import S3Hook


def pull():
    day = date.today().isoformat()
    body = requests.get("https://prices.example.com", params={"day": day}, timeout=30).text
    S3Hook("aws").load_string(body, key=f"prices/{day}.json", bucket_name="raw", replace=True)


dag = DAG("prices", start_date=datetime(2022, 6, 1), schedule_interval="@daily", catchup=True)
PythonOperator(task_id="pull", python_callable=pull, dag=dag)
