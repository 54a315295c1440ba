from datetime import date

import pandas as pd

frame = pd.read_csv("inventory.csv")
frame["snapshot_date"] = date.today()
frame.to_parquet("s3://lake/inventory", partition_cols=["snapshot_date"])
