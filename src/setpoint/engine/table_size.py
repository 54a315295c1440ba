"""How much a table holds, read from its metadata without Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.engine.iceberg_metadata import current_metadata

if TYPE_CHECKING:
    from setpoint.model.settings import Settings
    from setpoint.model.table import TableName


@dataclass(frozen=True, kw_only=True)
class TableSize:
    """Rows and bytes of a whole table, by its own metadata."""

    rows: int
    bytes: int


def table_size(settings: Settings, table: TableName) -> TableSize | None:
    """The size of an Iceberg table in an embedded catalog; None when it cannot be told."""
    metadata = current_metadata(settings, table) or {}
    try:
        current = metadata.get("current-snapshot-id")
        snapshots = metadata.get("snapshots", [])
        summary = next((s["summary"] for s in snapshots if s["snapshot-id"] == current), None)
        if summary is None:
            return None
        return TableSize(rows=int(summary["total-records"]), bytes=int(summary["total-files-size"]))
    except (ValueError, KeyError):
        return None  # an estimate without a basis says so
