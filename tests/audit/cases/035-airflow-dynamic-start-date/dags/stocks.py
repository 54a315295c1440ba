from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.bash import BashOperator

now = datetime.now()
default_args = {
    "owner": "bi",
    "start_date": datetime(now.year, now.month, now.day),
}

with DAG("stocks", default_args=default_args, schedule_interval="0 2 * * MON-FRI", catchup=False) as dag:
    BashOperator(task_id="pull", bash_command="pull_stocks --day {{ ds }}")
