# cause: scope
# checks: two,neighbours,order
"""Empties the whole table to write one day."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, amount INTEGER)")
    db.execute("DELETE FROM orders")
    for n in range(20):
        db.execute("INSERT INTO orders VALUES (?, ?, ?)", (day, n, n * 3))
