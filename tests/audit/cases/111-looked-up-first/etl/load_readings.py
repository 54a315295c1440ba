import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("postgresql://warehouse")


def load(path):
    df = pd.read_parquet(path)
    known = pd.read_sql_table("readings", con=engine)
    if not known.empty:
        if "meter" in known.columns:
            df = df.merge(known[["meter"]], on="meter", how="left", indicator=True)
            df = df[df["_merge"] == "left_only"].drop(columns=["_merge"])
        else:
            print("no key to compare by")
    df.to_sql("readings", con=engine, if_exists="append", index=False)


def load_all(path):
    df = pd.read_parquet(path)
    df.to_sql("meters", con=engine, if_exists="append", index=False)
