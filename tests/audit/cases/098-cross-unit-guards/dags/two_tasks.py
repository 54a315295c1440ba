from datetime import datetime

from airflow.decorators import dag, task
from airflow.providers.postgres.hooks.postgres import PostgresHook


@dag(start_date=datetime(2024, 1, 1), schedule="@daily", catchup=False)
def costs():
    @task
    def empty():
        PostgresHook("mart").run("TRUNCATE TABLE stage.costs")

    @task
    def fill(ds=None):
        PostgresHook("mart").run("INSERT INTO stage.costs SELECT * FROM src.costs WHERE day = %s", parameters=(ds,))

    @task
    def publish():
        PostgresHook("mart").run("INSERT INTO mart.costs SELECT * FROM stage.costs")

    empty() >> fill() >> publish()


costs()
