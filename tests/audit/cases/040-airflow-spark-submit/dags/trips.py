from datetime import datetime

from airflow import DAG
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

with DAG("trips", start_date=datetime(2024, 1, 1), schedule="@daily", catchup=False) as dag:
    SparkSubmitOperator(task_id="trips", application="/opt/jobs/trips.py", application_args=["{{ ds }}"])
