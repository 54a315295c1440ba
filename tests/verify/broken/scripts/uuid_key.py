# cause: uuid
# checks: two
"""Sets its day, under keys that are others each time."""

import sqlite3
import sys
import uuid

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (key TEXT, day TEXT, id INTEGER)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    for n in range(20):
        db.execute("INSERT INTO orders VALUES (?, ?, ?)", (str(uuid.uuid4()), day, n))
