import numpy as np
import pandas as pd

rng = np.random.default_rng(2024)
frame = pd.read_parquet("features.parquet")
frame["fold"] = rng.integers(0, 5, len(frame))
frame.sample(frac=1, random_state=3).to_parquet("folds.parquet")
