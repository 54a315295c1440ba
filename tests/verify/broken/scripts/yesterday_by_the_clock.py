# cause: clock
# checks: two,clock
# site
"""Loads yesterday, whatever yesterday is when it runs."""

import sqlite3
from datetime import date, timedelta

day = str(date.today() - timedelta(days=1))
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, amount INTEGER)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    for n in range(20):
        db.execute("INSERT INTO orders VALUES (?, ?, ?)", (day, n, n * 3))
