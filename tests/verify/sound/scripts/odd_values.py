# checks: two,crash
"""Nulls, blobs and texts of every kind."""

import sqlite3
import sys

day = sys.argv[1]
rows = [(day, n, None, b"\x00\xff", "it's – ünïcode; DROP TABLE orders") for n in range(20)]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day, id, a, b, c)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", rows)
