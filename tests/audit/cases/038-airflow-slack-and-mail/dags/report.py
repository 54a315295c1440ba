from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.email import EmailOperator
from airflow.operators.bash import BashOperator
from airflow.providers.slack.operators.slack_webhook import SlackWebhookOperator

with DAG("report", start_date=datetime(2024, 1, 1), schedule="@daily", catchup=False) as dag:
    build = BashOperator(task_id="build", bash_command="build_report --day {{ ds }}")
    mail = EmailOperator(
        task_id="mail",
        to=["board@example.com"],
        subject="Figures of {{ ds }}",
        html_content="<p>attached</p>",
    )
    post = SlackWebhookOperator(
        task_id="post",
        slack_webhook_conn_id="slack",
        message="Figures of {{ ds }} are in",
    )
    build >> [mail, post]
