from datetime import datetime, timedelta

import psycopg2
import requests

con = psycopg2.connect("dsn")
cur = con.cursor()


def renew(job):
    cur.execute("UPDATE etl_jobs SET owner = %s WHERE id = %s AND expires_at > NOW()", ("me", job))
    cur.execute("UPDATE etl_jobs SET attempt_count = attempt_count + 1 WHERE id = %s", (job,))
    cur.execute("UPDATE etl_jobs SET total = total + 1 WHERE id = %s", (job,))


def load(feed):
    params = {}
    params["cutoff"] = datetime.now() - timedelta(days=1)
    rows = requests.get(feed, json=params).json()
    for row in rows:
        existing = find(row["id"])
        if existing:
            continue
        cur.execute("INSERT INTO ads (id, cost) VALUES (%s, %s)", (row["id"], row["cost"]))
        cur.execute("INSERT INTO clicks (id, cost) VALUES (%s, %s)", (row["id"], row["cost"]))


def load_costs(feed):
    for row in requests.get(feed).json():
        cur.execute("INSERT INTO costs (id, cost) VALUES (%s, %s)", (row["id"], row["cost"]))
