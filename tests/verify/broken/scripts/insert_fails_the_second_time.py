# cause: append, key
# checks: two
"""A plain INSERT under a primary key: no rerun is possible."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, PRIMARY KEY (day, id))")
    for n in range(20):
        db.execute("INSERT INTO orders VALUES (?, ?)", (day, n))
