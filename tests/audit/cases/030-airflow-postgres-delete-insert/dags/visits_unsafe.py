from datetime import datetime

from airflow import DAG
from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator

with DAG("visits_unsafe", start_date=datetime(2023, 4, 1), schedule="@daily", catchup=False) as dag:
    create = SQLExecuteQueryOperator(
        task_id="create",
        conn_id="wh",
        sql="CREATE TABLE IF NOT EXISTS mart.visits_day (day date, visits int)",
    )
    load = SQLExecuteQueryOperator(
        task_id="load",
        conn_id="wh",
        sql="""
            INSERT INTO mart.visits_day (day, visits)
            SELECT day, count(*) FROM src.visits WHERE day = '{{ ds }}' GROUP BY day
        """,
    )
    create >> load
