# checks: two,crash,order
"""Commits in pieces, each of them set by its key."""

import sqlite3
import sys

day = sys.argv[1]
db = sqlite3.connect("shop.db")
db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, PRIMARY KEY (day, id))")
for part in range(4):
    with db:
        rows = [(day, part * 5 + n) for n in range(5)]
        db.executemany("INSERT OR REPLACE INTO orders VALUES (?, ?)", rows)
