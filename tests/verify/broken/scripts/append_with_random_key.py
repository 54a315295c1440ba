# cause: append, uuid
# checks: two
"""Each run gives each order another key, so that none is known again."""

import sqlite3
import sys
import uuid

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (key TEXT PRIMARY KEY, day TEXT, id INTEGER)")
    for n in range(20):
        db.execute("INSERT INTO orders VALUES (?, ?, ?)", (str(uuid.uuid4()), day, n))
