"""Load the orders of a day."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, amount INTEGER)")
    rows = [(day, 1, 10), (day, 2, 20), (day, 3, 30)]
    db.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
