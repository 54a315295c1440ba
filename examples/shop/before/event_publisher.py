"""Publish a day's purchases to the topic that the recommendation team reads."""

import os
import sys

import psycopg
import requests


def publish_purchases(ds):
    with psycopg.connect(os.environ["SHOP_DB"]) as conn:
        purchases = conn.execute(
            "SELECT event_id, user_id FROM shop.events"
            " WHERE kind = 'purchase' AND (occurred_at AT TIME ZONE 'UTC')::date = %s"
            " ORDER BY event_id",
            (ds,),
        ).fetchall()
    for event_id, user_id in purchases:
        record = {"value": {"event_id": event_id, "user_id": user_id}}
        answer = requests.post(
            os.environ["BROKER_URL"] + "/topics/shop.purchases",
            json={"records": [record]},
            timeout=10,
        )
        answer.raise_for_status()


if __name__ == "__main__":
    publish_purchases(sys.argv[1])
