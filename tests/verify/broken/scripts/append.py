# cause: append
# checks: two,crash
"""Adds the day's orders to the table."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, amount INTEGER)")
    for n in range(20):
        db.execute("INSERT INTO orders VALUES (?, ?, ?)", (day, n, n * 3))
