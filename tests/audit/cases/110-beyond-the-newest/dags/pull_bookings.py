from datetime import datetime

from airflow.decorators import dag, task
from airflow.providers.postgres.hooks.postgres import PostgresHook


@dag(schedule="@daily", start_date=datetime(2024, 1, 1), catchup=False)
def pull_bookings():
    @task
    def newest():
        return PostgresHook("copy").get_first("SELECT max(booked_at) FROM bookings")[0]

    @task
    def pull(since):
        rows = PostgresHook("live").get_records(
            f"SELECT * FROM bookings WHERE booked_at > '{since}'"
        )
        PostgresHook("copy").insert_rows(table="bookings", rows=rows)
        PostgresHook("copy").insert_rows(table="booking_copies", rows=rows)

    pull(newest())


pull_bookings()
