# cause: hash order, environment
# checks: two,environment
# variables: PYTHONHASHSEED=1
"""The order of a set decides the numbers that regions get."""

import sqlite3
import sys

day = sys.argv[1]
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS regions (day TEXT, region TEXT, rank INTEGER)")
    db.execute("DELETE FROM regions WHERE day = ?", (day,))
    for rank, region in enumerate({"north", "south", "east", "west", "centre", "coast", "isles"}):
        db.execute("INSERT INTO regions VALUES (?, ?, ?)", (day, region, rank))
