import pandas as pd
from sqlalchemy import create_engine, text

engine = create_engine("mssql+pyodbc://cube")


def import_region(path, region):
    frame = pd.read_excel(path)
    with engine.connect() as conn:
        conn.execute(text("DELETE FROM sales_cube WHERE region = :r"), {"r": region})
        conn.commit()
    frame.to_sql("sales_cube", engine, if_exists="append", index=False, chunksize=500)
