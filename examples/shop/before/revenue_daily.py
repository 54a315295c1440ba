"""Revenue by region and day, and a word about it in Slack."""

import os
import sys
import uuid

import psycopg
import requests

DDL = """
CREATE SCHEMA IF NOT EXISTS mart;
CREATE TABLE IF NOT EXISTS mart.revenue_daily (
  revenue_key uuid PRIMARY KEY,
  order_date  date,
  region      text,
  revenue     numeric(14, 2)
)
"""
REVENUE = """
SELECT region, sum(amount)
FROM shop.orders
WHERE (ordered_at AT TIME ZONE 'UTC')::date = %s
GROUP BY region
ORDER BY region
"""


def build_revenue(ds):
    with psycopg.connect(os.environ["SHOP_DB"]) as conn, conn.cursor() as cur:
        cur.execute(DDL)
        cur.execute(REVENUE, (ds,))
        regions = cur.fetchall()
        for region, revenue in regions:
            cur.execute(
                "INSERT INTO mart.revenue_daily (revenue_key, order_date, region, revenue)"
                " VALUES (%s, %s, %s, %s)",
                (uuid.uuid4(), ds, region, revenue),
            )
    return sum(revenue for _, revenue in regions)


def tell_slack(ds, total):
    text = f"Revenue of {ds}: {total:,.2f}"
    requests.post(os.environ["SLACK_WEBHOOK_URL"], json={"text": text}, timeout=10)


if __name__ == "__main__":
    day = sys.argv[1]
    tell_slack(day, build_revenue(day))
