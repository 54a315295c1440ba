import os

import pandas as pd
from sqlalchemy import create_engine

engine = create_engine(os.environ["DWH_URL"])
LIMIT = int(os.getenv("ROW_LIMIT", "100000"))
rows = pd.read_sql(f"SELECT * FROM orders ORDER BY id LIMIT {LIMIT}", engine)
rows.to_parquet(f"{os.environ['OUT_DIR']}/orders.parquet")
