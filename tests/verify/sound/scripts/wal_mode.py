# checks: two,crash,order
"""A database in WAL mode."""

import sqlite3
import sys

day = sys.argv[1]
db = sqlite3.connect("shop.db")
db.execute("PRAGMA journal_mode = WAL")
with db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?)", [(day, n) for n in range(20)])
