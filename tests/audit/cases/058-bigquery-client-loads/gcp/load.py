import pandas_gbq
from google.cloud import bigquery

client = bigquery.Client()


def append(frame):
    config = bigquery.LoadJobConfig(write_disposition="WRITE_APPEND")
    client.load_table_from_dataframe(frame, "acme.raw.orders", job_config=config).result()


def replace(frame):
    config = bigquery.LoadJobConfig(write_disposition=bigquery.WriteDisposition.WRITE_TRUNCATE)
    client.load_table_from_dataframe(frame, "acme.raw.products", job_config=config).result()


def gbq(frame):
    pandas_gbq.to_gbq(frame, "raw.visits", project_id="acme", if_exists="append")


def gbq_replace(frame):
    frame.to_gbq("raw.shops", project_id="acme", if_exists="replace")


def query(day):
    job = bigquery.QueryJobConfig(
        query_parameters=[bigquery.ScalarQueryParameter("day", "DATE", day)]
    )
    return client.query("SELECT * FROM raw.orders WHERE day = @day", job_config=job).to_dataframe()
