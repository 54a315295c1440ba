import psycopg


def replace_day(day, rows):
    with psycopg.connect("service=dwh") as conn, conn.cursor() as cur:
        cur.execute("DELETE FROM usage_daily WHERE day = %s", (day,))
        cur.executemany("INSERT INTO usage_daily (day, meter, kwh) VALUES (%s, %s, %s)", rows)


def replace_day_autocommit(day, rows):
    conn = psycopg.connect("service=dwh", autocommit=True)
    cur = conn.cursor()
    cur.execute("DELETE FROM usage_daily WHERE day = %s", (day,))
    cur.executemany("INSERT INTO usage_daily (day, meter, kwh) VALUES (%s, %s, %s)", rows)


def replace_day_two_commits(conn, day, rows):
    cur = conn.cursor()
    cur.execute("DELETE FROM usage_hourly WHERE day = %s", (day,))
    conn.commit()
    cur.executemany("INSERT INTO usage_hourly (day, hour, kwh) VALUES (%s, %s, %s)", rows)
    conn.commit()
