# cause: chance
# checks: two
"""Fills a column by chance."""

import random
import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, amount INTEGER)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    for n in range(20):
        db.execute("INSERT INTO orders VALUES (?, ?, ?)", (day, n, random.randint(0, 10**9)))
