import os
from datetime import datetime

from airflow import DAG
from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator

SINCE = os.environ["HISTORY_START"]

with DAG("history", start_date=datetime(2024, 1, 1), schedule=None, catchup=False) as dag:
    SQLExecuteQueryOperator(
        task_id="build",
        conn_id=os.getenv("DWH_CONN", "dwh"),
        sql=f"CREATE OR REPLACE TABLE mart.history AS SELECT * FROM src.history WHERE day >= '{SINCE}'",
    )
