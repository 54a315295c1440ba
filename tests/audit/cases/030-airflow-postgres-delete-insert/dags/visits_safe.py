from datetime import datetime

from airflow import DAG
from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator

with DAG(
    dag_id="visits_safe",
    start_date=datetime(2023, 4, 1),
    schedule="@daily",
    catchup=False,
    default_args={"retries": 3},
) as dag:
    clear = SQLExecuteQueryOperator(
        task_id="clear",
        conn_id="wh",
        sql="TRUNCATE TABLE stage.visits_today",
    )
    load = SQLExecuteQueryOperator(
        task_id="load",
        conn_id="wh",
        sql="INSERT INTO stage.visits_today SELECT * FROM src.visits WHERE day = '{{ ds }}'",
    )
    clear >> load
