from datetime import datetime

from airflow import DAG
from airflow.providers.apache.hive.operators.hive import HiveOperator

with DAG("hive_hourly_hour", start_date=datetime(2024, 1, 1), schedule="@hourly", catchup=False) as dag:
    HiveOperator(
        task_id="clicks",
        hql="""
            INSERT OVERWRITE TABLE lake.clicks_h PARTITION (dt = '{{ ds }}', hr = '{{ logical_date.hour }}')
            SELECT user_id, url
            FROM landing.clicks
            WHERE clicked_at >= '{{ data_interval_start }}' AND clicked_at < '{{ data_interval_end }}'
        """,
    )
