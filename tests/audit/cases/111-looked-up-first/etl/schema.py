POSTS = """
CREATE TABLE IF NOT EXISTS readings (
    id SERIAL PRIMARY KEY,
    meter TEXT
)
"""
METERS = """
CREATE TABLE IF NOT EXISTS meters (
    meter_id SERIAL PRIMARY KEY,
    name TEXT
)
"""


def make(cursor):
    for text in (POSTS, METERS):
        cursor.execute(text)
