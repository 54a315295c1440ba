from datetime import datetime

from airflow import DAG
from airflow.operators.bash import BashOperator
from airflow.providers.slack.operators.slack_webhook import SlackWebhookOperator

with DAG("alert_task", start_date=datetime(2024, 1, 1), schedule="@daily", catchup=False) as dag:
    work = BashOperator(task_id="work", bash_command="work {{ ds }}")
    alert = SlackWebhookOperator(
        task_id="alert",
        slack_webhook_conn_id="slack",
        message="work failed for {{ ds }}",
        trigger_rule="one_failed",
    )
    work >> alert
