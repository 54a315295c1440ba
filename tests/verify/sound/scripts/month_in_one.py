# checks: two,neighbours,order,month
"""Sets the month of its date."""

import sqlite3
import sys

month = sys.argv[1][:7]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (month TEXT, id INTEGER)")
    db.execute("DELETE FROM orders WHERE month = ?", (month,))
    db.executemany("INSERT INTO orders VALUES (?, ?)", [(month, n) for n in range(20)])
