import psycopg2


def apply_points(day, rows):
    total = 0
    with psycopg2.connect("service=loyalty") as conn, conn.cursor() as cur:
        for account, points in rows:
            cur.execute("UPDATE account SET points = points + %s WHERE id = %s", (points, account))
            total += points
    print(day, total)


def set_points(rows):
    with psycopg2.connect("service=loyalty") as conn, conn.cursor() as cur:
        cur.executemany("UPDATE account SET points = %s WHERE id = %s", rows)
