# checks: two,order,month
# target: parquet:orders
# site
"""One file a day, under one name."""

import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Path("orders").mkdir(exist_ok=True)
table = pa.table(
    {"day": [sys.argv[1]] * 20, "id": list(range(20)), "x": [[n, n] for n in range(20)]}
)
pq.write_table(table, f"orders/.{sys.argv[1]}")
os.replace(f"orders/.{sys.argv[1]}", f"orders/{sys.argv[1]}.parquet")
