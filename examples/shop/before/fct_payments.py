"""Load yesterday's payments from the payment provider and join them to the customers."""

import os
from datetime import datetime, timedelta, timezone

import pandas as pd
import psycopg
import requests

DDL = """
CREATE SCHEMA IF NOT EXISTS mart;
CREATE TABLE IF NOT EXISTS mart.fct_payments (
  payment_id  text,
  customer_id integer,
  country     text,
  amount      numeric(10, 2),
  status      text,
  created_at  timestamptz
)
"""


def fetch_payments(start, end):
    payments, after = [], None
    while True:
        params = {"created_gte": int(start.timestamp()), "created_lt": int(end.timestamp())}
        if after:
            params["starting_after"] = after
        answer = requests.get(os.environ["PAYMENTS_URL"] + "/v1/payments", params=params, timeout=30)
        answer.raise_for_status()
        page = answer.json()
        payments += page["data"]
        if not page["has_more"]:
            return pd.DataFrame(payments)
        after = page["data"][-1]["id"]


def load_payments():
    end = datetime.now(timezone.utc)
    start = end - timedelta(days=1)
    payments = fetch_payments(start, end)
    with psycopg.connect(os.environ["SHOP_DB"]) as conn, conn.cursor() as cur:
        cur.execute(DDL)
        if payments.empty:
            return
        cur.execute("SELECT customer_id, country FROM shop.customers")
        customers = pd.DataFrame(cur.fetchall(), columns=["customer_id", "country"])
        facts = payments.merge(customers, on="customer_id", how="left")
        facts["amount"] = facts["amount_cents"] / 100
        facts["created_at"] = pd.to_datetime(facts["created"], unit="s", utc=True)
        facts = facts[["id", "customer_id", "country", "amount", "status", "created_at"]]
        cur.executemany(
            "INSERT INTO mart.fct_payments"
            " (payment_id, customer_id, country, amount, status, created_at)"
            " VALUES (%s, %s, %s, %s, %s, %s)",
            facts.astype(object).where(facts.notna(), None).values.tolist(),
        )
    print(f"loaded {len(facts)} payments")


if __name__ == "__main__":
    load_payments()
