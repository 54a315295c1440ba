"""Run a SQL file for a date: python run_sql.py daily_customer_summary.sql 2026-04-25"""

import os
import sys
from pathlib import Path

import psycopg


def run_file(name, ds):
    script = (Path(__file__).parent / name).read_text()
    statements = script.replace("{{ ds }}", ds)
    with psycopg.connect(os.environ["SHOP_DB"], autocommit=True) as conn:
        conn.execute(statements)
    print(f"{ds}: {name} done")


if __name__ == "__main__":
    run_file(sys.argv[1], sys.argv[2])
