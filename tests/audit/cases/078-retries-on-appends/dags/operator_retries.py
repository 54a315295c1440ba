from datetime import datetime, timedelta

from airflow import DAG
from airflow.providers.mysql.operators.mysql import MySqlOperator
from airflow.providers.slack.operators.slack import SlackAPIPostOperator

with DAG("points", start_date=datetime(2024, 1, 1), schedule="@daily", catchup=False) as dag:
    book = MySqlOperator(
        task_id="book",
        mysql_conn_id="loyalty",
        sql="UPDATE account a JOIN points_in p ON p.account_id = a.id SET a.points = a.points + p.points WHERE p.day = '{{ ds }}'",
        retries=4,
        retry_delay=timedelta(minutes=1),
    )
    tell = SlackAPIPostOperator(
        task_id="tell",
        channel="#loyalty",
        text="Points of {{ ds }} are booked",
    )
    book >> tell
