from datetime import datetime

import requests
from airflow.decorators import dag, task
from airflow.models import Variable
from airflow.providers.postgres.hooks.postgres import PostgresHook

UPSERT = "INSERT INTO tickets (id, body) VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body"


@dag(start_date=datetime(2024, 1, 1), schedule="*/30 * * * *", catchup=False)
def tickets_ok():
    @task
    def pull():
        since = Variable.get("tickets_since")
        rows = requests.get("https://desk.example.com/tickets", params={"updated_since": since}, timeout=60).json()
        for row in rows:
            PostgresHook("dwh").run(UPSERT, parameters=(row["id"], row["body"]))
        if rows:
            Variable.set("tickets_since", max(row["updated_at"] for row in rows))

    pull()


tickets_ok()
