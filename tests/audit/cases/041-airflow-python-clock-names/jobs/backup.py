import logging
from datetime import datetime

import psycopg2

LOG = f"/var/log/backup_{datetime.now():%Y%m%d}.log"
logging.basicConfig(filename=LOG)


def snapshot(conn):
    suffix = datetime.now().strftime("%Y%m%d")
    with conn.cursor() as cur:
        cur.execute(f"CREATE TABLE archive.orders_{suffix} AS SELECT * FROM shop.orders")
    conn.commit()


if __name__ == "__main__":
    snapshot(psycopg2.connect("service=shop"))
