import os

import psycopg2

conn = psycopg2.connect(host=os.environ["PGHOST"], password=os.environ["PGPASSWORD"])
days = os.environ.get("LOOKBACK_DAYS", "3")
with conn, conn.cursor() as cur:
    cur.execute("TRUNCATE stage.recent")
    cur.execute(
        "INSERT INTO stage.recent SELECT * FROM src.events WHERE day >= %s::date - %s::int",
        ("2024-05-01", days),
    )
