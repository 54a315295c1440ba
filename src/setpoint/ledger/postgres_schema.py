"""The ledger's tables in Postgres: the same scripts as for SQLite, in a schema of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from setpoint.errors import LedgerError
from setpoint.ledger import schema

if TYPE_CHECKING:
    from setpoint.ledger.rows import Connection

NAME = "setpoint_ledger"
VERSION = f"{NAME}.version"
# Any number that nobody else in the database uses; SQLite's files carry the same one.
LOCK = schema.APPLICATION_ID

# What SQLite means by these words. Texts are compared byte by byte, or dates and "all" would sort
# by the rules of some language.
_KINDS = {"INTEGER": "BIGINT", "REAL": "DOUBLE PRECISION", "TEXT": 'TEXT COLLATE "C"'}


def version(connection: Connection, place: str) -> int:
    """How many scripts the database has seen: 0 when it has no ledger."""
    # Not to_regclass: it may answer from what this connection saw before it waited for the lock.
    tables = "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = ? AND tablename = ?"
    if connection.execute(tables, VERSION.split(".")).fetchone() == (0,):
        return 0
    (found,) = connection.execute(f"SELECT scripts FROM {VERSION}").fetchone()  # noqa: S608
    if found > len(schema.SCRIPTS):
        raise LedgerError(
            f"The ledger {place} is of version {found}; this Setpoint knows up to"
            f" {len(schema.SCRIPTS)}.",
            next_step="Upgrade setpoint: pip install --upgrade setpoint",
        )
    return int(found)


def migrate(connection: Connection, place: str) -> None:
    """Bring the database to the newest version, all scripts in one transaction."""
    if version(connection, place) == len(schema.SCRIPTS):
        return
    connection.execute("BEGIN")
    try:
        connection.execute("SELECT pg_advisory_xact_lock(?)", [LOCK])
        # Another process may have gone ahead while this one waited for the lock.
        seen = version(connection, place)
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {NAME}")
        connection.execute(f"CREATE TABLE IF NOT EXISTS {VERSION} (scripts BIGINT NOT NULL)")
        for script in schema.SCRIPTS[seen:]:
            for statement in schema.statements(translated(script)):
                connection.execute(statement)
        connection.execute(f"DELETE FROM {VERSION}")  # noqa: S608
        connection.execute(f"INSERT INTO {VERSION} VALUES (?)", [len(schema.SCRIPTS)])  # noqa: S608
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def translated(script: str) -> str:
    """The script as Postgres takes it."""
    return re.sub(r"\b(INTEGER|REAL|TEXT)\b", lambda found: _KINDS[found[1]], script)
