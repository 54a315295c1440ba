from datetime import datetime

from airflow import DAG
from airflow.operators.python import PythonOperator
from airflow.providers.slack.hooks.slack_webhook import SlackWebhookHook


def post(ds, **_):
    SlackWebhookHook(slack_webhook_conn_id="ops").send(text=f"day {ds} closed")


with DAG(
    "close_day",
    start_date=datetime(2024, 1, 1),
    schedule="@daily",
    catchup=False,
    default_args={"retries": 3},
) as dag:
    PythonOperator(task_id="post", python_callable=post, retries=0)
