import pendulum
from airflow import DAG
from airflow.operators.bash import BashOperator

with DAG("funds", start_date=pendulum.datetime(2023, 6, 1, tz="Europe/Oslo"), schedule="@daily", catchup=True) as dag:
    BashOperator(
        task_id="pull",
        bash_command="pull_funds --from {{ data_interval_start }} --to {{ data_interval_end }}",
    )
