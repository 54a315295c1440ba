from datetime import datetime

from airflow.decorators import dag, task
from airflow.utils.email import send_email


@dag(start_date=datetime(2024, 1, 1), schedule="@monthly", catchup=False)
def statements():
    @task
    def mail(ds=None):
        send_email(to="clients@example.com", subject=f"Statement {ds}", html_content="...")

    mail()


def on_failure(context):
    send_email(to="oncall@example.com", subject="failed", html_content=str(context["exception"]))


statements()
