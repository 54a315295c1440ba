# checks: two,crash,readers
"""A staging table, then one step."""

import sqlite3
import sys

day = sys.argv[1]
db = sqlite3.connect("shop.db")
db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER)")
db.execute("CREATE TEMP TABLE staged (day TEXT, id INTEGER)")
db.executemany("INSERT INTO staged VALUES (?, ?)", [(day, n) for n in range(20)])
with db:
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.execute("INSERT INTO orders SELECT * FROM staged")
