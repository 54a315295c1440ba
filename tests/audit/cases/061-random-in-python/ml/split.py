import numpy as np
import pandas as pd

frame = pd.read_parquet("features.parquet")
frame["fold"] = np.random.randint(0, 5, len(frame))
frame.to_parquet("folds.parquet")
