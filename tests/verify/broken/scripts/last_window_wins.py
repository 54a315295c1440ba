# cause: window order, key
# checks: two,order
"""Keeps whichever row arrived last, not the newest."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS customers (id INTEGER PRIMARY KEY, email TEXT, at TEXT)")
    for n in range(10):
        db.execute("INSERT OR REPLACE INTO customers VALUES (?, ?, ?)", (n, f"{n}@{day}", day))
