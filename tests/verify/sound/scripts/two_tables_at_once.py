# checks: two,crash,readers,order
"""Two tables in one transaction."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    for table in ("orders", "lines"):
        db.execute(f"CREATE TABLE IF NOT EXISTS {table} (day TEXT, id INTEGER)")
        db.execute(f"DELETE FROM {table} WHERE day = ?", (day,))
        db.executemany(f"INSERT INTO {table} VALUES (?, ?)", [(day, n) for n in range(20)])
