# cause: append
# checks: two,crash
# target: parquet:orders
# site
"""Writes one more Parquet file in each run."""

import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq

table = pa.table({"day": [sys.argv[1]] * 20, "id": list(range(20))})
pq.write_to_dataset(
    table,
    root_path="orders",
    partition_cols=["day"],
    basename_template=f"{time.time_ns()}-{{i}}.parquet",
)
