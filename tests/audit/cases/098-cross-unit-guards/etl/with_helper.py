import psycopg2

from etl.helpers import clear_day


def clear(cur, day):
    cur.execute("DELETE FROM mart.costs WHERE day = %s", (day,))


def load(day, rows):
    with psycopg2.connect("service=mart") as conn, conn.cursor() as cur:
        clear(cur, day)
        cur.executemany("INSERT INTO mart.costs (day, item, cost) VALUES (%s, %s, %s)", rows)
