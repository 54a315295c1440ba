"""Where a command writes: its content can be read, kept and put back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from setpoint.verifying.rows import Tables

KNOWN = (
    "a SQLite file (shop.db, sqlite:///shop.db#orders), a Postgres table "
    "(postgresql://user@host/db#public.orders), a folder of Parquet files (lake/orders), a Delta "
    "table (delta:lake/orders), or an Iceberg table of setpoint.toml (lake.shop.orders)"
)
SQLITE_HEADER = b"SQLite format 3\x00"
PASSWORD = re.compile(r"(?<=:)[^:@/]+(?=@)")


class Destination(Protocol):
    """One place that a command writes to."""

    name: str
    """How a report calls it; no password in it."""

    def read(self) -> Tables:
        """The rows of its tables as a reader sees them now."""
        ...

    def glance(self) -> object:
        """Something cheap that differs when the content does; read while the command runs."""
        ...

    def between(self) -> AbstractContextManager[Sequence[object]]:
        """Glances at the states between transactions, while this lasts; none where unknown."""
        ...

    def keep(self) -> object:
        """Keep the content as it is; the answer goes to `restore`."""
        ...

    def restore(self, kept: object) -> None:
        """Put the kept content back."""
        ...

    def close(self) -> None:
        """Let go of what was kept."""
        ...


def open_destination(text: str, *, folder: Path, say: Callable[[str], None]) -> Destination:  # noqa: PLR0911
    """The destination that a person named."""
    place, _, table = text.partition("#")
    if place.startswith(("postgresql://", "postgres://")):
        from setpoint.verifying.blackbox.postgres import PostgresDestination

        return PostgresDestination(place, table)
    if place.startswith("sqlite:"):
        from setpoint.verifying.blackbox.sqlite import SqliteDestination

        return SqliteDestination(Path(re.sub(r"^sqlite:(///)?", "", place)), table)
    kind, colon, rest = place.partition(":")
    if colon and kind == "parquet":
        return _parquet(Path(rest))
    if colon and kind == "delta":
        from setpoint.verifying.blackbox.lake import DeltaDestination

        return DeltaDestination(Path(rest), project=folder, say=say)
    path = Path(place)
    if path.suffix in (".db", ".sqlite", ".sqlite3") or _is_sqlite(path):
        from setpoint.verifying.blackbox.sqlite import SqliteDestination

        return SqliteDestination(path, table)
    if (path / "_delta_log").is_dir():
        from setpoint.verifying.blackbox.lake import DeltaDestination

        return DeltaDestination(path, project=folder, say=say)
    if path.is_dir() or "/" in place:
        return _parquet(path)
    if place.count(".") >= 2:  # noqa: PLR2004 — catalog, namespace, table
        from setpoint.verifying.blackbox.lake import IcebergDestination

        return IcebergDestination(place, project=folder, say=say)
    raise UsageError(f"--target {shown(text)} is nothing known", next_step=f"give {KNOWN}")


def shown(text: str) -> str:
    """A target as it may be shown: without its password."""
    return PASSWORD.sub("…", text)


def _parquet(path: Path) -> Destination:
    from setpoint.verifying.blackbox.parquet import ParquetDestination

    return ParquetDestination(path)


def _is_sqlite(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE_HEADER)) == SQLITE_HEADER
