# cause: sequence, counter, own target
# checks: two
"""Numbers its rows from the largest number that is there."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (number INTEGER, day TEXT, id INTEGER)")
    last = db.execute("SELECT coalesce(max(number), 0) FROM orders").fetchone()[0]
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    rows = [(last + n + 1, day, n) for n in range(20)]
    db.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
