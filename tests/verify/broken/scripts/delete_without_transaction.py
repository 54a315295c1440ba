# cause: torn write
# checks: two,crash,readers
"""Deletes the day, and writes it a moment later."""

import sqlite3
import sys
import time

day = sys.argv[1]
db = sqlite3.connect("shop.db", isolation_level=None)
db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, amount INTEGER)")
db.execute("DELETE FROM orders WHERE day = ?", (day,))
time.sleep(0.05)
db.execute("BEGIN")
for n in range(20):
    db.execute("INSERT INTO orders VALUES (?, ?, ?)", (day, n, n * 3))
db.execute("COMMIT")
