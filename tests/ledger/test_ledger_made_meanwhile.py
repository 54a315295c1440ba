"""Two processes open a new ledger at the same time."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Any

from setpoint.ledger import schema

if TYPE_CHECKING:
    from pathlib import Path


def test_a_ledger_that_another_process_makes_meanwhile_is_not_taken_for_a_foreign_file(
    tmp_path: Path,
) -> None:
    """Version, owner and tables are read as of one moment."""
    path = tmp_path / "ledger.db"
    other = sqlite3.connect(path, timeout=0, isolation_level=None)

    class Meddled(sqlite3.Connection):
        """A connection on which the other process's work falls between two reads."""

        def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
            if "sqlite_master" in sql:
                with contextlib.suppress(sqlite3.OperationalError):
                    schema.migrate(other, path)
            return super().execute(sql, *rest)

    connection = sqlite3.connect(path, isolation_level=None, factory=Meddled)
    assert schema.version(connection, path) in (0, len(schema.SCRIPTS))
    connection.close()
    other.close()
