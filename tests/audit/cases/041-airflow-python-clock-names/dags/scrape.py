from datetime import datetime

import pandas as pd
from airflow.decorators import dag, task


@dag(start_date=datetime(2024, 1, 1), schedule="@daily", catchup=False)
def scrape():
    @task
    def store(rows: list):
        stamp = datetime.now().strftime("%Y%m%d_%H%M%S")
        pd.DataFrame(rows).to_parquet(f"s3://acme-raw/listings/listings_{stamp}.parquet")
        return len(rows)

    store([])


scrape()
