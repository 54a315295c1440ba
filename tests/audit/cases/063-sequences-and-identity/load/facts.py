CREATE = """
CREATE TABLE IF NOT EXISTS flights (
    flight_sk SERIAL PRIMARY KEY,
    flight_no TEXT,
    day DATE
)
"""


def prepare(conn):
    with conn.cursor() as cur:
        cur.execute(CREATE)
    conn.commit()
