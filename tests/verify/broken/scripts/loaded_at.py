# cause: clock
# checks: two
"""Stamps each row with the time of the load."""

import sqlite3
import sys
from datetime import datetime, timezone

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, loaded_at TEXT)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    now = datetime.now(timezone.utc).isoformat()
    db.executemany("INSERT INTO orders VALUES (?, ?, ?)", [(day, n, now) for n in range(20)])
