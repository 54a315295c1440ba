from datetime import datetime, timedelta

import requests
from airflow.decorators import dag, task


@dag(schedule="@daily", start_date=datetime(2024, 1, 1))
def ads():
    @task
    def pull(start_date=None, full=False):
        if start_date:
            since = start_date
        else:
            since = (datetime.now() - timedelta(days=30)).strftime("%Y-%m-%d")
        return requests.get("https://ads.example.com", params={"since": since}).json()

    @task
    def pull_all(full=False):
        if full:
            since = "1970-01-01"
        else:
            since = (datetime.now() - timedelta(days=30)).strftime("%Y-%m-%d")
        return requests.get("https://ads.example.com", params={"since": since}).json()

    pull()
    pull_all()


ads()
