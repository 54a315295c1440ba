import sqlite3
from datetime import datetime


def load(conn, rows):
    conn.executemany("INSERT OR REPLACE INTO visit (id, at) VALUES (?, ?)", rows)
    conn.execute("UPDATE sync_state SET last_sync = ? WHERE name = 'visit'", (datetime.now(),))
    conn.commit()
