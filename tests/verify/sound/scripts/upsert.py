# checks: two,crash,order
"""One row a key, set to the same values."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute(
        "CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, amount INTEGER, PRIMARY KEY (day, id))"
    )
    for n in range(20):
        db.execute(
            "INSERT INTO orders VALUES (?, ?, ?)"
            " ON CONFLICT (day, id) DO UPDATE SET amount = excluded.amount",
            (day, n, n * 3),
        )
