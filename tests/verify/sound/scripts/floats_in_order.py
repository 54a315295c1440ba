# checks: two,environment
"""Floats in one order."""

import sqlite3
import sys

day = sys.argv[1]
rows = [(day, sum(k / 7 for k in range(n))) for n in range(20)]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day, total)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?)", rows)
