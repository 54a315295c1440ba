import sqlite3

import requests

con = sqlite3.connect("costs.db")


def remember(feed):
    for row in requests.get(feed).json():
        con.execute("INSERT INTO remembered (id, cost) VALUES (?, ?)", (row["id"], row["cost"]))
