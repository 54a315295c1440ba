from datetime import date, timedelta

import pandas as pd
from prefect import flow, task
from sqlalchemy import create_engine

engine = create_engine("postgresql:///shop")


@task(retries=3, retry_delay_seconds=30)
def load(frame: pd.DataFrame) -> None:
    frame.to_sql("orders", engine, if_exists="append", index=False)


@task(retries=3)
def extract(day: str) -> pd.DataFrame:
    return pd.read_json(f"https://shop.example.com/orders?day={day}")


@task(retries=2)
def load_products(frame: pd.DataFrame) -> None:
    frame.to_sql("products", engine, if_exists="replace", index=False)


@flow(log_prints=True)
def ingest(day: str | None = None) -> None:
    day = day or (date.today() - timedelta(days=1)).isoformat()
    load(extract(day))
