"""The event stream as it lands in the lake, for the job that reads it there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from examples.shop import company

if TYPE_CHECKING:
    from pathlib import Path


def land(lake: Path, size: company.Size) -> None:
    """Write all events to the lake's folder `events`."""
    table = pa.Table.from_pylist([event._asdict() for event in company.events(size)])
    (lake / "events").mkdir(parents=True, exist_ok=True)
    pq.write_table(table, lake / "events" / "part-0.parquet", coerce_timestamps="us")
