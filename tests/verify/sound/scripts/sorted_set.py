# checks: two,environment
"""A sorted set."""

import sqlite3
import sys

day = sys.argv[1]
rows = [(day, n, ",".join(sorted({"north", "south", "east", "west"}))) for n in range(20)]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day, id, regions)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
