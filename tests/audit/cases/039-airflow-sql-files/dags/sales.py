from datetime import datetime

from airflow import DAG
from airflow.providers.postgres.operators.postgres import PostgresOperator

with DAG(
    "sales",
    start_date=datetime(2024, 3, 1),
    schedule="@daily",
    catchup=False,
    template_searchpath="/opt/airflow/dags/sql",
) as dag:
    clear_stage = PostgresOperator(task_id="clear_stage", postgres_conn_id="dwh", sql="clear_stage.sql")
    fill_stage = PostgresOperator(task_id="fill_stage", postgres_conn_id="dwh", sql="fill_stage.sql")
    mart = PostgresOperator(task_id="mart", postgres_conn_id="dwh", sql="mart_sales.sql")
    clear_stage >> fill_stage >> mart
