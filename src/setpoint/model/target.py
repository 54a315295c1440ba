"""Targets: what each kind of destination can do."""

from __future__ import annotations

PATTERNS: dict[str, tuple[str, ...]] = {"iceberg": ("overwrite", "replace", "merge")}
"""The write patterns that each kind of catalog supports."""

DATABASES = ("postgres",)
"""Destinations with transactions instead of partitions."""

NOT_ATOMIC = ("parquet",)
"""Destinations whose readers, or a retry after a crash, may meet a write half done."""
