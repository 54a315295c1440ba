import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("postgresql://mart")
new = pd.read_csv("rates.csv")
old = pd.read_sql("select shop, day from rates", engine)
both = new.merge(old, on=["shop", "day"], how="left", indicator=True)
missing = both[both["_merge"] == "left_only"].drop(columns=["_merge"])
missing.to_sql("rates", engine, if_exists="append", index=False)
