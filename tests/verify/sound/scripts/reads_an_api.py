# checks: two,effects
# record: API_URL
"""Asks a service for its rows; asking is no effect."""

import os
import sqlite3
import sys
import urllib.request

day = sys.argv[1]
with urllib.request.urlopen(os.environ["API_URL"]) as answer:
    text = answer.read().decode()
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS answers (day TEXT, text TEXT)")
    db.execute("DELETE FROM answers WHERE day = ?", (day,))
    db.execute("INSERT INTO answers VALUES (?, ?)", (day, text))
