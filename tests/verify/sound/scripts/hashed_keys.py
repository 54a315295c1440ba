# checks: two,order
"""Keys from a hash of the row."""

import hashlib
import sqlite3
import sys

day = sys.argv[1]
rows = [(day, hashlib.sha256(f"{day}/{n}".encode()).hexdigest()) for n in range(20)]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day, key)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?)", rows)
