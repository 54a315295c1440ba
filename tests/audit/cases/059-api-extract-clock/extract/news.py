import datetime as dt

import psycopg2
import requests


def main():
    yesterday = dt.datetime.utcnow().date() - dt.timedelta(days=1)
    articles = requests.get(f"https://news.example.com/{yesterday}", timeout=30).json()
    with psycopg2.connect("service=news") as conn, conn.cursor() as cur:
        for item in articles:
            cur.execute(
                "INSERT INTO article (id, title) VALUES (%s, %s) ON CONFLICT (id) DO NOTHING",
                (item["id"], item["title"]),
            )


if __name__ == "__main__":
    main()
