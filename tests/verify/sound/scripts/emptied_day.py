# checks: two,neighbours,order
"""A day without rows is emptied too."""

import sqlite3
import sys

day = sys.argv[1]
rows = [(day, n) for n in range(20)] if day != "2026-04-24" else []
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?)", rows)
