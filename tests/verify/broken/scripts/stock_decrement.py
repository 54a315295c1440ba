# cause: counter
# checks: two
"""Takes the day's sales off the stock, again and again."""

import sqlite3
import sys

with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS stock (sku TEXT PRIMARY KEY, qty INTEGER)")
    if not db.execute("SELECT count(*) FROM stock").fetchone()[0]:
        db.executemany("INSERT INTO stock VALUES (?, ?)", [(f"sku-{n}", 100) for n in range(5)])
    day = int(sys.argv[1][-2:])
    for n in range(5):
        db.execute("UPDATE stock SET qty = qty - ? WHERE sku = ?", (1 + day % 3, f"sku-{n}"))
