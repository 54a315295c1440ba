from datetime import datetime

from airflow import DAG
from airflow.providers.apache.hive.operators.hive import HiveOperator

with DAG("hive_hourly", start_date=datetime(2024, 1, 1), schedule="@hourly", catchup=False) as dag:
    HiveOperator(
        task_id="clicks",
        hql="""
            INSERT OVERWRITE TABLE lake.clicks PARTITION (dt = '{{ ds }}')
            SELECT user_id, url, clicked_at
            FROM landing.clicks
            WHERE clicked_at >= '{{ data_interval_start }}' AND clicked_at < '{{ data_interval_end }}'
        """,
    )
