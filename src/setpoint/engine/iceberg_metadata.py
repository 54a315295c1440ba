"""An Iceberg table's own metadata file, read without Spark, and the history that is in it.

Where the catalog is embedded, its SQLite file names the metadata file, and both have a public
format (the JDBC catalog's table; Iceberg's table spec). One read gives the head and every snapshot
as of one moment, and takes milliseconds: a question to Spark is a job, and takes tens of them.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from setpoint.model.settings import Settings
    from setpoint.model.table import TableName


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """One commit to the table, whoever made it."""

    number: int
    parent: int | None
    operation: str
    at: int
    """When it was made, in milliseconds since 1970."""
    summary: Mapping[str, str]


def current_metadata(settings: Settings, table: TableName) -> dict[str, Any] | None:
    """What the metadata of a table in an embedded catalog says; None when it cannot be read."""
    catalog = settings.catalogs.get(table.catalog)
    if catalog is None or catalog.type != "iceberg" or catalog.warehouse is None:
        return None
    given = f"spark.sql.catalog.{catalog.name}."
    if catalog.conf or any(name.startswith(given) for name in settings.spark.conf):
        return None  # settings of one's own may mean another catalog, and leave a file behind
    file = catalog.warehouse / "catalog.db"
    try:
        place = _metadata_place(file, table) if file.is_file() else None
        found = json.loads(place.read_text(encoding="utf-8")) if place else None
    except (sqlite3.Error, OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def history_of(metadata: Mapping[str, Any]) -> list[Snapshot]:
    """The snapshots that led to the current one, in order."""
    snapshots = [
        Snapshot(
            number=each["snapshot-id"],
            parent=each.get("parent-snapshot-id"),
            operation=each.get("summary", {}).get("operation", ""),
            at=each["timestamp-ms"],
            summary=each.get("summary", {}),
        )
        for each in metadata.get("snapshots", ())
    ]
    return ancestry(snapshots, metadata.get("current-snapshot-id"))


def ancestry(snapshots: Iterable[Snapshot], head: int | None) -> list[Snapshot]:
    """Those of the snapshots that led to the head, in order.

    What was rolled back, or staged on a branch, is kept beside them, and no reader sees it.
    """
    by_number = {each.number: each for each in snapshots}
    ordered = []
    while head in by_number:
        ordered.append(by_number[head])
        head = by_number[head].parent
    return ordered[::-1]


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
