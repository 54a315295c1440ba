from airflow import DAG
from airflow.operators.bash import BashOperator
from airflow.utils.dates import days_ago

with DAG("bonds", start_date=days_ago(2), schedule_interval="@daily") as dag:
    BashOperator(task_id="pull", bash_command="pull_bonds --day {{ ds }}")
