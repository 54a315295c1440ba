import uuid

import pandas as pd

SPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
users = pd.read_csv("users.csv")
users["user_key"] = [str(uuid.uuid5(SPACE, name)) for name in users["login"]]
users.to_parquet("dim_user.parquet")
