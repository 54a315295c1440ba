import pandas as pd

frame = pd.read_csv("sales.csv", parse_dates=["sold_at"])
frame["day"] = frame["sold_at"].dt.date
frame["loaded_at"] = pd.Timestamp.utcnow()
frame.to_parquet("s3://lake/sales.parquet")
