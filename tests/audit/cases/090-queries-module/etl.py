import glob

import pandas as pd
import psycopg2

from sql_queries import song_select, songplay_table_insert, user_table_insert


def process(cur, path):
    log = pd.read_json(path, lines=True)
    log = log[log["page"] == "NextSong"]
    for _, row in log.iterrows():
        cur.execute(user_table_insert, (row.userId, row.level))
        cur.execute(song_select, (row.song, row.length))
        found = cur.fetchone()
        cur.execute(songplay_table_insert, (row.ts, row.userId, found and found[0]))


def main():
    conn = psycopg2.connect("dbname=sparkify")
    cur = conn.cursor()
    for path in glob.glob("data/*.json"):
        process(cur, path)
        conn.commit()


if __name__ == "__main__":
    main()
