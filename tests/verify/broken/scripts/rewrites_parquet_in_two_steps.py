# cause: torn write
# checks: two,crash,readers
# target: parquet:orders
# site
"""Removes the day's files, and writes them a moment later."""

import shutil
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

folder = Path("orders") / f"day={sys.argv[1]}"
shutil.rmtree(folder, ignore_errors=True)
time.sleep(0.05)
folder.mkdir(parents=True)
pq.write_table(pa.table({"id": list(range(20))}), folder / "part-0.parquet")
