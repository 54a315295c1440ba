# cause: environment
# checks: two,environment
"""Which day an order is of depends on where the machine thinks it is."""

import sqlite3
import sys
import time
from datetime import datetime, timezone

start = datetime.fromisoformat(sys.argv[1]).replace(tzinfo=timezone.utc).timestamp()
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER PRIMARY KEY)")
    for n in range(24):
        local = time.strftime("%Y-%m-%d", time.localtime(start + n * 3600))
        db.execute("INSERT OR REPLACE INTO orders VALUES (?, ?)", (local, int(start) + n))
