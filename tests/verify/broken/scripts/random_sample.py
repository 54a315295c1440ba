# cause: chance
# checks: two
"""Keeps another tenth of the orders in each run."""

import random
import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, amount INTEGER)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    for n in range(500):
        if random.random() < 0.1:
            db.execute("INSERT INTO orders VALUES (?, ?, ?)", (day, n, n * 3))
