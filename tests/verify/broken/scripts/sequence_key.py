# cause: sequence, counter
# checks: two
"""Sets its day, under numbers that the database counts up."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute(
        "CREATE TABLE IF NOT EXISTS orders"
        " (txn INTEGER PRIMARY KEY AUTOINCREMENT, day TEXT, id INTEGER)"
    )
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    for n in range(20):
        db.execute("INSERT INTO orders (day, id) VALUES (?, ?)", (day, n))
