import psycopg2


def load(day, rows):
    with psycopg2.connect("service=mart") as conn, conn.cursor() as cur:
        cur.execute("DELETE FROM mart.costs_old WHERE day = %s", (day,))
        cur.executemany("INSERT INTO mart.costs_new (day, item, cost) VALUES (%s, %s, %s)", rows)
