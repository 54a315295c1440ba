from datetime import datetime

from airflow import DAG
from operators.load_dimension import LoadDimensionOperator
from operators.load_fact import LoadFactOperator
from operators.stage import StageOperator

with DAG("sparkify", start_date=datetime(2019, 1, 12), schedule="@hourly", catchup=False) as dag:
    stage = StageOperator(task_id="stage", table="staging_events", s3_key="s3://logs/{{ ds }}/", role="loader")
    facts = LoadFactOperator(task_id="facts", conn_id="redshift", table="songplays", select_sql="SELECT * FROM staging_events")
    users = LoadDimensionOperator(task_id="users", conn_id="redshift", table="users", select_sql="SELECT user_id, level FROM staging_events")
    stage >> facts >> users
