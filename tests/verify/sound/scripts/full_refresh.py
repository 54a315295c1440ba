# checks: two,crash,neighbours,order
"""The whole table anew, whatever the date."""

import sqlite3

with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS regions (name TEXT, code INTEGER)")
    db.execute("DELETE FROM regions")
    db.executemany("INSERT INTO regions VALUES (?, ?)", [("north", 1), ("south", 2)])
