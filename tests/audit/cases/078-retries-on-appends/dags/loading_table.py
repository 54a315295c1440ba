from datetime import datetime, timedelta

from airflow.decorators import dag, task
from airflow.providers.postgres.hooks.postgres import PostgresHook


@dag(start_date=datetime(2024, 1, 1), schedule="@weekly", catchup=False)
def openmedia():
    @task(retries=2, retry_delay=timedelta(minutes=10))
    def load_from_s3(ds=None):
        PostgresHook("catalog").run(
            "INSERT INTO loading_image SELECT * FROM s3_import('media', %(key)s)",
            parameters={"key": f"image/{ds}.tsv"},
        )

    @task(retries=2)
    def upsert():
        PostgresHook("catalog").run(
            "INSERT INTO image SELECT * FROM loading_image ON CONFLICT (foreign_id) DO UPDATE SET title = EXCLUDED.title"
        )

    load_from_s3() >> upsert()


openmedia()
