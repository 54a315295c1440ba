# cause: counter, append
# checks: two
"""An upsert that adds to what is there."""

import sqlite3
import sys

with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS visits (page TEXT PRIMARY KEY, hits INTEGER)")
    for n in range(5):
        db.execute(
            "INSERT INTO visits VALUES (?, 1) ON CONFLICT (page) DO UPDATE SET hits = hits + 1",
            (f"page-{n}",),
        )
print(sys.argv[1])
