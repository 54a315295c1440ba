# checks: two,neighbours,order,month
"""One row a customer; the newest version wins in any order."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS customers (id INTEGER PRIMARY KEY, email TEXT, at TEXT)")
    for n in range(10):
        db.execute(
            "INSERT INTO customers VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE"
            " SET email = excluded.email, at = excluded.at WHERE excluded.at > customers.at",
            (n, f"{n}@{day}", day),
        )
