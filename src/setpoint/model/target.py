"""Targets: what each kind of destination can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setpoint.model.settings import Settings

PATTERNS: dict[str, tuple[str, ...]] = {"iceberg": ("overwrite", "replace")}
"""The write patterns that each kind of catalog supports."""

DATABASE_PATTERNS: dict[str, tuple[str, ...]] = {"postgres": ("merge", "replace")}
"""The write patterns that each kind of connection supports."""


def supported_patterns(settings: Settings, first_name: str) -> tuple[str, ...] | None:
    """What the catalog or connection of this name can do; None when there is none."""
    catalog = settings.catalogs.get(first_name)
    if catalog is not None:
        return PATTERNS.get(catalog.type, ())
    connection = settings.connections.get(first_name)
    return DATABASE_PATTERNS.get(connection.type, ()) if connection else None
