from psycopg2.extras import execute_values

SQL = """
    INSERT INTO sensors (sensor_id, site, kind) VALUES %s
    ON CONFLICT (sensor_id) DO UPDATE SET site = EXCLUDED.site, kind = EXCLUDED.kind
"""


def store(conn, rows):
    with conn.cursor() as cur:
        execute_values(cur, SQL, rows)
    conn.commit()
