# cause: append, torn write
# checks: crash,readers
"""Commits every few rows: a copy that died is added to by its retry."""

import sqlite3
import sys
import time

day = sys.argv[1]
db = sqlite3.connect("shop.db", isolation_level=None)
db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, amount INTEGER)")
done = db.execute("SELECT count(*) FROM orders WHERE day = ?", (day,)).fetchone()[0]
if done == 40:  # a complete day is left alone, half a one is not
    sys.exit()
for n in range(40):
    db.execute("INSERT INTO orders VALUES (?, ?, ?)", (day, n, n * 3))
    time.sleep(0.002)
