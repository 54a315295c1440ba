import psycopg2

from shop.names import SALES, SCRATCH

db = psycopg2.connect("")


def load():
    cur = db.cursor()
    cur.execute(f"INSERT INTO {SCRATCH} SELECT * FROM raw.sales")
    cur.execute(f"INSERT INTO {SALES} SELECT * FROM {SCRATCH}")
