import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("postgresql:///trips")
first = True
for chunk in pd.read_csv("trips.csv", chunksize=100_000):
    chunk.to_sql("trips", engine, if_exists="replace" if first else "append", index=False)
    first = False

head = pd.read_csv("zones.csv", nrows=0)
head.to_sql("zones", engine, if_exists="replace", index=False)
for chunk in pd.read_csv("zones.csv", chunksize=100_000):
    chunk.to_sql("zones", engine, if_exists="append", index=False)

for chunk in pd.read_csv("fares.csv", chunksize=100_000):
    chunk.to_sql("fares", engine, if_exists="append", index=False)
