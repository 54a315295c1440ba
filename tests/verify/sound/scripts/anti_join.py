# checks: two,crash,order
"""Adds only what is not there."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER)")
    for n in range(20):
        db.execute(
            "INSERT INTO orders SELECT ?, ? WHERE NOT EXISTS"
            " (SELECT 1 FROM orders WHERE day = ? AND id = ?)",
            (day, n, day, n),
        )
