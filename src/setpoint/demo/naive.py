"""The job as people write it first: it reads the day in batches and appends each.

Run as `python -m setpoint.demo.naive FOLDER`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from setpoint.engine.spark.session import open_session
from setpoint.project.settings import read_settings

DAY = "2026-04-25"
ROWS = 250_000
BATCH = 60_000
TABLE = "lake.naive.orders"


def copy_day(folder: Path) -> None:
    """Append the day's orders, a batch at a time, saying how far it is."""
    spark, _ = open_session(read_settings(folder), say=lambda _text: None)
    day = spark.sql(f"SELECT * FROM lake.source.orders WHERE order_date = DATE '{DAY}'")
    first = day.selectExpr("min(order_id)").collect()[0][0]
    for begin in range(0, ROWS, BATCH):
        low, high = first + begin, first + min(begin + BATCH, ROWS)
        day.where(f"order_id >= {low} AND order_id < {high}").writeTo(TABLE).append()
        print(min(begin + BATCH, ROWS), flush=True)  # noqa: T201 — the job's own log


if __name__ == "__main__":
    copy_day(Path(sys.argv[1]))
