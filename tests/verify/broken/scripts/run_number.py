# cause: state, counter
# checks: two
"""Remembers in a file how often it ran."""

import sqlite3
import sys
from pathlib import Path

day = sys.argv[1]
counter = Path("runs.txt")
number = int(counter.read_text()) + 1 if counter.exists() else 1
counter.write_text(str(number))
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, run INTEGER)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?, ?)", [(day, n, number) for n in range(20)])
