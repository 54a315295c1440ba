# checks: two,crash,order,month
"""Rows that never change, kept once."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, PRIMARY KEY (day, id))")
    for n in range(20):
        db.execute("INSERT OR IGNORE INTO orders VALUES (?, ?)", (day, n))
