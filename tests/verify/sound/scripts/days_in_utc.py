# checks: two,environment
"""Days in UTC, whatever the machine thinks."""

import sqlite3
import sys
from datetime import datetime, timezone

day = sys.argv[1]
rows = [
    (day, n, datetime.fromisoformat(day).replace(tzinfo=timezone.utc).strftime("%w"))
    for n in range(20)
]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day, id, weekday)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
