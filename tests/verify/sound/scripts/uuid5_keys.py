# checks: two,order
"""Keys by uuid5, which is a hash too."""

import sqlite3
import sys
import uuid

day = sys.argv[1]
rows = [(day, str(uuid.uuid5(uuid.NAMESPACE_OID, f"{day}/{n}"))) for n in range(20)]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day, key)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?)", rows)
