# checks: two,clock
# site
"""The clock is read, for what it prints only."""

import sqlite3
import sys
from datetime import datetime, timezone

print("started at", datetime.now(timezone.utc))
day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?)", [(day, n) for n in range(20)])
