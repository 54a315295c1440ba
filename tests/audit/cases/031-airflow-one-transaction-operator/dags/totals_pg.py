from datetime import datetime

from airflow.models import DAG
from airflow.providers.postgres.operators.postgres import PostgresOperator

with DAG(dag_id="totals_pg", start_date=datetime(2022, 1, 1), schedule="@daily", catchup=True) as dag:
    totals = PostgresOperator(
        task_id="totals",
        postgres_conn_id="wh",
        sql="""
            DELETE FROM mart.daily_totals WHERE day = '{{ ds }}';
            INSERT INTO mart.daily_totals (day, total)
            SELECT day, COUNT(*) FROM src.orders WHERE day = '{{ ds }}' GROUP BY day;
        """,
    )
