# cause: window order, own target, state, scope
# checks: two,order,month
"""Adds what is newer than the table's newest row: an old date is lost."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, amount INTEGER)")
    newest = db.execute("SELECT max(day) FROM orders").fetchone()[0] or ""
    if day > newest:
        for n in range(20):
            db.execute("INSERT INTO orders VALUES (?, ?, ?)", (day, n, n * 3))
