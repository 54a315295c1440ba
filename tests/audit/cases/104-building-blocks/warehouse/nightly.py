import pandas as pd
from sqlalchemy import create_engine


def add(frame, table, engine):
    frame.to_sql(table, engine, if_exists="append", index=False)


if __name__ == "__main__":
    orders = pd.read_csv("orders.csv")
    add(orders, "orders", create_engine("postgresql://shop"))
