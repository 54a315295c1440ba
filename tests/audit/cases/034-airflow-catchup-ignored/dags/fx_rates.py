from datetime import datetime

import pendulum
import requests
from airflow.decorators import dag, task
from airflow.providers.postgres.hooks.postgres import PostgresHook


@dag(start_date=datetime(2023, 1, 1), schedule="@daily", catchup=True)
def fx_rates():
    @task
    def load():
        today = pendulum.today().to_date_string()
        rates = requests.get(f"https://fx.example.com/{today}", timeout=30).json()["rates"]
        hook = PostgresHook("dwh")
        for code, rate in rates.items():
            hook.run(
                "INSERT INTO fx (day, code, rate) VALUES (%s, %s, %s) "
                "ON CONFLICT (day, code) DO UPDATE SET rate = EXCLUDED.rate",
                parameters=(today, code, rate),
            )

    load()


fx_rates()
