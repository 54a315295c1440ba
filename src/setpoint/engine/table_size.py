"""How much a table holds, read from its metadata without Spark."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

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
    catalog = settings.catalogs.get(table.catalog)
    if catalog is None or catalog.type != "iceberg" or catalog.warehouse is None:
        return None
    file = catalog.warehouse / "catalog.db"
    try:
        place = _metadata_place(file, table) if file.is_file() else None
        metadata = json.loads(place.read_text(encoding="utf-8")) if place else {}
        current = metadata.get("current-snapshot-id")
        snapshots = metadata.get("snapshots", [])
        summary = next((s["summary"] for s in snapshots if s["snapshot-id"] == current), None)
        if summary is None:
            return None
        return TableSize(rows=int(summary["total-records"]), bytes=int(summary["total-files-size"]))
    except (sqlite3.Error, OSError, ValueError, KeyError):
        return None  # an estimate without a basis says so


def _metadata_place(file: Path, table: TableName) -> Path | None:
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
    try:
        found = connection.execute(
            "SELECT metadata_location FROM iceberg_tables WHERE catalog_name = ?"
            " AND table_namespace = ? AND table_name = ?",
            [table.parts[0], ".".join(table.parts[1:-1]), table.parts[-1]],
        ).fetchone()
    finally:
        connection.close()
    if not found or not found[0]:
        return None
    address = urlsplit(found[0])
    return Path(unquote(address.path)) if address.scheme in ("", "file") else None
