import uuid

import psycopg2

conn = psycopg2.connect("service=events")


def store(rows):
    with conn, conn.cursor() as cur:
        for row in rows:
            cur.execute(
                "INSERT INTO event (event_id, kind, at) VALUES (%s, %s, %s) ON CONFLICT (event_id) DO NOTHING",
                (str(uuid.uuid4()), row["kind"], row["at"]),
            )
