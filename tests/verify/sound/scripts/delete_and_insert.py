# checks: text,two,ten,crash,readers,neighbours,order,month,clock,environment,effects
# site
"""Deletes and inserts its day in one transaction: every check."""

import sqlite3
import sys

day = sys.argv[1]
rows = [(day, n, n * 3) for n in range(20)]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day, id, amount)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
