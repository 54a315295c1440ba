import datetime
import sqlite3

import requests

con = sqlite3.connect("posts.db")


def ingest(feed):
    for post in requests.get(feed).json():
        row = con.execute("SELECT id FROM posts WHERE guid = ?", (post["guid"],)).fetchone()
        if row is None:
            con.execute("INSERT INTO posts (guid, title) VALUES (?, ?)", (post["guid"], post["title"]))
        mark = con.execute("SELECT 1 FROM marks WHERE guid = ?", (post["guid"],)).fetchone()
        if mark:
            continue
        con.execute("INSERT INTO marks (guid) VALUES (?)", (post["guid"],))


def ingest_votes(feed):
    for vote in requests.get(feed).json():
        setting = con.execute("SELECT weight FROM settings").fetchone()
        if setting is None:
            continue
        con.execute("INSERT INTO votes (guid, weight) VALUES (?, ?)", (vote["guid"], setting))


def trim(days):
    edge = datetime.datetime.now() - datetime.timedelta(days=days)
    con.execute(f"DELETE FROM visits WHERE seen < '{edge}' AND seen > '1900-01-01'")
    con.commit()
    rows = requests.get("https://example.com/visits").json()
    con.executemany("INSERT OR IGNORE INTO visits VALUES (?, ?)", rows)


def place(points):
    for point in requests.get(points).json():
        con.execute("INSERT INTO trips (id, at) VALUES ($id, $at)", point)
