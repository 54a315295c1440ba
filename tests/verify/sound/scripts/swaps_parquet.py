# checks: two,crash,readers,order
# target: parquet:orders
# site
"""Writes aside and renames."""

import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

folder = Path("orders") / f"day={sys.argv[1]}"
folder.mkdir(parents=True, exist_ok=True)
aside = folder / f".part-{os.getpid()}"
pq.write_table(pa.table({"id": list(range(20))}), aside)
os.replace(aside, folder / "part-0.parquet")
