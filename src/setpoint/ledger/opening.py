"""Opening the ledger that the project's settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.errors import LedgerError

if TYPE_CHECKING:
    from pathlib import Path

    from setpoint.ledger.protocol import Ledger

SUPPORTED = (
    "sqlite:///path/to/ledger.db (relative to setpoint.toml, or absolute),"
    " postgresql://user@host/database, memory:"
)
_POSTGRES = ("postgresql://", "postgres://")
_SQLITE = "sqlite:///"


def open_ledger(url: str, *, root: Path, create: bool) -> Ledger:
    """Open the ledger at this URL; a relative path starts at `root`.

    With `create` the file, its folder and its newest schema are made where they are missing.
    Without it nothing is made or changed and every write is refused; a file or schema that is not
    there reads as a ledger in which nothing has run yet.
    """
    if url == "memory:":
        from setpoint.ledger.memory import MemoryLedger

        return MemoryLedger(readonly=not create)
    if url.startswith(_POSTGRES):
        from setpoint.ledger.postgres import open_postgres

        return open_postgres(url, create=create)
    if not url.startswith(_SQLITE) or not url[len(_SQLITE) :].strip():
        # Only the scheme is shown: the rest of a URL may hold a password.
        scheme = url.split(":", 1)[0] + ":" if ":" in url else "it"
        raise LedgerError(
            f"The ledger's URL is not one that Setpoint can open ({scheme}).",
            next_step=f"In setpoint.toml, give one of: {SUPPORTED}",
        )
    return _open_sqlite(root / url[len(_SQLITE) :], create=create)


def _open_sqlite(path: Path, *, create: bool) -> Ledger:
    from setpoint.ledger.connection import explained
    from setpoint.ledger.memory import MemoryLedger
    from setpoint.ledger.sqlite import SqliteLedger

    with explained(path):
        if create:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif not path.exists() or path.stat().st_size == 0:
            return MemoryLedger(readonly=True)
    return SqliteLedger(path, readonly=not create)
