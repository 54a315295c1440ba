from datetime import datetime

from airflow.decorators import dag, task
from airflow.providers.postgres.hooks.postgres import PostgresHook


@dag(start_date=datetime.now(), schedule="@weekly", catchup=False)
def fx_dim():
    @task
    def refresh():
        PostgresHook("dwh").run(
            ["TRUNCATE stage.currency", "INSERT INTO stage.currency SELECT code, title FROM src.currency"]
        )

    refresh()


fx_dim()
