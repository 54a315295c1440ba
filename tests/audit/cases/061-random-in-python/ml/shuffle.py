import pandas as pd

frame = pd.read_parquet("clicks.parquet")
frame.sample(n=10_000).to_parquet("clicks_small.parquet")
