# checks: two,crash,order,month
"""Stock derived from adjustments that are kept by id."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute(
        "CREATE TABLE IF NOT EXISTS adjustments (id TEXT PRIMARY KEY, sku TEXT, delta INTEGER)"
    )
    db.execute("CREATE TABLE IF NOT EXISTS stock (sku TEXT PRIMARY KEY, qty INTEGER)")
    for n in range(5):
        db.execute(
            "INSERT OR REPLACE INTO adjustments VALUES (?, ?, ?)", (f"{day}/{n}", f"sku-{n}", -n)
        )
    db.execute("DELETE FROM stock")
    db.execute("INSERT INTO stock SELECT sku, 100 + sum(delta) FROM adjustments GROUP BY sku")
