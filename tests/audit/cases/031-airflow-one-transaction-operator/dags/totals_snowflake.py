from datetime import datetime

from airflow.models import DAG
from airflow.providers.snowflake.operators.snowflake import SnowflakeOperator

with DAG(dag_id="totals_sf", start_date=datetime(2022, 1, 1), schedule="@daily", catchup=False) as dag:
    totals = SnowflakeOperator(
        task_id="totals",
        snowflake_conn_id="sf",
        autocommit=True,
        sql=[
            "DELETE FROM mart.daily_totals WHERE day = '{{ ds }}'",
            "INSERT INTO mart.daily_totals SELECT day, COUNT(*) FROM src.orders WHERE day = '{{ ds }}' GROUP BY day",
        ],
    )
