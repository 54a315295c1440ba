from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.email import EmailOperator

default_args = {"retries": 5, "retry_delay": timedelta(minutes=5)}

with DAG("report_retrying", start_date=datetime(2024, 1, 1), schedule="@weekly", catchup=False, default_args=default_args) as dag:
    mail = EmailOperator(
        task_id="mail",
        to="team@example.com",
        subject="Week {{ ds }}",
        html_content="see dashboard",
    )
