# cause: clock
# checks: two,clock
# site
"""Sets its day, with an age that grows with every day that passes."""

import sqlite3
import sys
from datetime import date

day = sys.argv[1]
age = (date.today() - date.fromisoformat(day)).days
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, age INTEGER)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?, ?)", [(day, n, age) for n in range(20)])
