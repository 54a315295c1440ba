def copy_file(conn, path):
    with conn.cursor() as cur, open(path) as handle:
        cur.copy_expert("COPY raw.meters FROM STDIN WITH CSV HEADER", handle)
    conn.commit()


def copy_file_clean(conn, path):
    with conn.cursor() as cur, open(path) as handle:
        cur.execute("TRUNCATE raw.sites")
        cur.copy_expert("COPY raw.sites FROM STDIN WITH CSV HEADER", handle)
    conn.commit()
