import pandas as pd
from sqlalchemy import create_engine, text

engine = create_engine("postgresql:///movies")


def add(frame, name):
    frame.to_sql(name, engine, if_exists="append", index=False)


def put(frame, name):
    frame.to_sql(name, engine, if_exists="replace", index=False)


def upsert(table, conn, keys, data_iter):
    from sqlalchemy.dialects.postgresql import insert

    statement = insert(table.table).values([dict(zip(keys, row)) for row in data_iter])
    conn.execute(statement.on_conflict_do_update(index_elements=["movie_id"], set_={"title": statement.excluded.title}))


def merge(frame):
    frame.to_sql("movies", engine, if_exists="append", index=False, method=upsert)


def replace_week(frame, week):
    with engine.begin() as conn:
        conn.execute(text("DELETE FROM charts WHERE week = :week"), {"week": week})
        frame.to_sql("charts", conn, if_exists="append", index=False)


def replace_month(frame, month):
    with engine.connect() as conn:
        conn.execute(text("DELETE FROM charts_monthly WHERE month = :month"), {"month": month})
        conn.commit()
    frame.to_sql("charts_monthly", engine, if_exists="append", index=False)


def read_back():
    known = set(pd.read_sql("SELECT movie_id FROM ratings", engine)["movie_id"])
    fresh = pd.read_csv("ratings.csv")
    fresh = fresh[~fresh["movie_id"].isin(known)]
    fresh.to_sql("ratings", engine, if_exists="append", index=False)
