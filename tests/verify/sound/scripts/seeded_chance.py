# checks: two,environment
"""Chance with a seed."""

import random
import sqlite3
import sys

day = sys.argv[1]
chance = random.Random(day)
rows = [(day, n, chance.random()) for n in range(20)]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day, id, draw)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
