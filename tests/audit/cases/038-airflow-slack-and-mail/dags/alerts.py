from datetime import datetime

from airflow import DAG
from airflow.operators.bash import BashOperator
from airflow.providers.slack.hooks.slack_webhook import SlackWebhookHook


def tell_on_failure(context):
    SlackWebhookHook(slack_webhook_conn_id="slack").send(text=f"failed: {context['task_instance_key_str']}")


with DAG(
    "alerts",
    start_date=datetime(2024, 1, 1),
    schedule="@daily",
    catchup=False,
    default_args={
        "email": ["oncall@example.com"],
        "email_on_failure": True,
        "retries": 2,
        "on_failure_callback": tell_on_failure,
    },
) as dag:
    BashOperator(task_id="compact", bash_command="compact_partition {{ ds }}")
