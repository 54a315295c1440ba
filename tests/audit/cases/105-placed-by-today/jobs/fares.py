from datetime import date

import requests
from google.cloud import bigquery


def collect(routes):
    rows = []
    for route in routes:
        answer = requests.get("https://fares.example/search", params={"route": route})
        rows.append({"snapshot_date": date.today().isoformat(), "raw": answer.text})
    return rows


def main():
    config = bigquery.LoadJobConfig(write_disposition=bigquery.WriteDisposition.WRITE_TRUNCATE)
    rows = collect(["AB", "CD"])
    bigquery.Client().load_table_from_json(rows, "p.raw.fares", job_config=config).result()


if __name__ == "__main__":
    main()
