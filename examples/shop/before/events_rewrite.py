"""Make a day of events anew: delete it, then write it again."""

import os
import sys

import psycopg

DDL = """
CREATE SCHEMA IF NOT EXISTS mart;
CREATE TABLE IF NOT EXISTS mart.events (
  event_date  date,
  event_id    bigint,
  user_id     integer,
  kind        text,
  occurred_at timestamptz
)
"""


def rewrite_events(ds):
    conn = psycopg.connect(os.environ["SHOP_DB"], autocommit=True)
    conn.execute(DDL)
    conn.execute("DELETE FROM mart.events WHERE event_date = %s", (ds,))
    conn.execute(
        """
        INSERT INTO mart.events (event_date, event_id, user_id, kind, occurred_at)
        SELECT (occurred_at AT TIME ZONE 'UTC')::date, event_id, user_id, kind, occurred_at
        FROM shop.events
        WHERE (occurred_at AT TIME ZONE 'UTC')::date = %s
        """,
        (ds,),
    )
    conn.close()


if __name__ == "__main__":
    rewrite_events(sys.argv[1])
