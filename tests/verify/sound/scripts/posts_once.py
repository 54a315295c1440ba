# checks: two,effects
# record: CHAT_URL
"""Tells the chat once for a day, and remembers that it did."""

import os
import sqlite3
import sys
import urllib.request

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS told (day TEXT PRIMARY KEY)")
    if not db.execute("SELECT 1 FROM told WHERE day = ?", (day,)).fetchone():
        request = urllib.request.Request(os.environ["CHAT_URL"], data=b"{}")
        urllib.request.urlopen(request).close()
        db.execute("INSERT INTO told VALUES (?)", (day,))
