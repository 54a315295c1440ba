"""Nightly copy of a day's orders from the shop's database to the lake, in batches."""

import os
import sys

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

BATCH = 50
COLUMNS = ["order_id", "customer_id", "region", "amount", "ordered_at", "order_date"]


def copy_orders(ds):
    copied = 0
    with psycopg.connect(os.environ["SHOP_DB"]) as conn, conn.cursor(name="orders") as cur:
        cur.itersize = BATCH
        cur.execute(
            """
            SELECT order_id, customer_id, region, amount, ordered_at,
                   (ordered_at AT TIME ZONE 'UTC')::date AS order_date
            FROM shop.orders
            WHERE (ordered_at AT TIME ZONE 'UTC')::date = %s
            """,
            (ds,),
        )
        while rows := cur.fetchmany(BATCH):
            table = pa.Table.from_pylist([dict(zip(COLUMNS, row)) for row in rows])
            pq.write_to_dataset(
                table,
                root_path=os.environ["SHOP_LAKE"] + "/orders",
                partition_cols=["order_date"],
            )
            copied += len(rows)
    print(f"{ds}: copied {copied} orders")


if __name__ == "__main__":
    copy_orders(sys.argv[1])
