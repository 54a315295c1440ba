"""A project's settings: what setpoint.toml says, understood."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

STATE_FOLDER = ".setpoint"


@dataclass(frozen=True, kw_only=True)
class SparkSettings:
    """How Spark is reached: a Connect server, a cluster's master, or embedded."""

    master: str | None = None
    remote: str | None = None
    packages: tuple[str, ...] = ()
    conf: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CatalogSettings:
    """One catalog of tables."""

    name: str
    type: str = "iceberg"
    warehouse: Path | None = None
    """Where the embedded catalog keeps its tables. None when `conf` names a server."""
    conf: Mapping[str, str] = field(default_factory=dict)

    @property
    def embedded(self) -> bool:
        """Whether Setpoint runs this catalog itself, in files beside the project."""
        return self.warehouse is not None


@dataclass(frozen=True, kw_only=True)
class ConnectionSettings:
    """One database. What it is reached by holds secrets, and is never shown."""

    name: str
    type: str = "postgres"
    url: str = field(repr=False)
    password: str | None = field(default=None, repr=False)
    """The password where the URL has none, so that it needs no percent-encoding."""
    read_partitions: int = 4
    """How many connections read one source at once."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that setpoint.toml can say."""

    root: Path
    name: str
    pipelines: Path
    ledger_url: str = field(repr=False)
    """Where runs are recorded; with the password, if it needs one."""
    catalogs: Mapping[str, CatalogSettings]
    connections: Mapping[str, ConnectionSettings] = field(default_factory=dict)
    spark: SparkSettings = field(default_factory=SparkSettings)
    lease_seconds: int = 60
    """How long a process may be silent before another takes its scope over."""
    development_date: str | None = None

    @property
    def state(self) -> Path:
        """The folder for what Setpoint itself keeps: the ledger, the catalog file, logs."""
        return self.root / STATE_FOLDER
