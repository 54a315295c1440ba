# cause: effect
# checks: two,effects
# record: CHAT_URL
"""Sets its day, and tells the chat about it in every run."""

import os
import sqlite3
import sys
import urllib.request

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT, id INTEGER, amount INTEGER)")
    db.execute("DELETE FROM orders WHERE day = ?", (day,))
    db.executemany("INSERT INTO orders VALUES (?, ?, ?)", [(day, n, n) for n in range(20)])
body = b'{"text": "20 orders"}'
urllib.request.urlopen(urllib.request.Request(os.environ["CHAT_URL"], data=body)).close()
