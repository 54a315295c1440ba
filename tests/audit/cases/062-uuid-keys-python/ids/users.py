import uuid

import pandas as pd

users = pd.read_csv("users.csv")
users["user_key"] = [str(uuid.uuid4()) for _ in range(len(users))]
users.to_parquet("dim_user.parquet")
