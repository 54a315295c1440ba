"""The tables of the SQLite ledger, and the way from each version to the next.

A script, once released, never changes; a new version is a new script at the end. The file's
`user_version` counts the scripts that it has seen.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from setpoint.errors import LedgerError
from setpoint.ledger.outbox_tables import SCHEMA as _OUTBOX

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# "setp" in the file's header: tells a ledger from any other SQLite database.
APPLICATION_ID = 0x73657470

# What stands for a window's edges when the task sets its whole table. Not NULL, which a unique
# index takes for different each time; and letters sort after digits, so that whole tables come
# first where the newest window does.
WHOLE_TABLE = "all"

_RUNS_AND_ATTEMPTS = """
CREATE TABLE fence (last INTEGER NOT NULL);
INSERT INTO fence VALUES (0);

CREATE TABLE run (
    run_id       TEXT NOT NULL PRIMARY KEY,
    task         TEXT NOT NULL,
    window_start TEXT NOT NULL,
    window_end   TEXT NOT NULL,
    target       TEXT NOT NULL,
    fingerprint  TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('running', 'succeeded', 'failed')),
    attempts     INTEGER NOT NULL,
    fence        INTEGER NOT NULL UNIQUE,
    started_at   TEXT NOT NULL,
    finished_at  TEXT,
    rows         INTEGER,
    checksum     TEXT,
    snapshot     TEXT,
    seconds      REAL,
    error        TEXT,
    error_kind   TEXT,
    detail       TEXT NOT NULL,
    pid          INTEGER NOT NULL,
    host         TEXT NOT NULL,
    latest       INTEGER NOT NULL CHECK (latest IN (0, 1))
);

CREATE UNIQUE INDEX run_scope ON run (task, window_start, window_end) WHERE latest = 1;
CREATE INDEX run_newest ON run (window_start, window_end, task DESC) WHERE latest = 1;
CREATE INDEX run_state ON run (state, window_start, window_end, task DESC) WHERE latest = 1;
CREATE INDEX run_standing ON run (task, state, fence, rows) WHERE latest = 1;
CREATE INDEX run_history ON run (task, fence);

CREATE TABLE attempt (
    run_id      TEXT NOT NULL REFERENCES run (run_id),
    number      INTEGER NOT NULL,
    fence       INTEGER NOT NULL UNIQUE,
    state       TEXT NOT NULL
                CHECK (state IN ('running', 'succeeded', 'failed', 'lost', 'adopted')),
    started_at  TEXT NOT NULL,
    finished_at TEXT,
    seconds     REAL,
    error       TEXT,
    error_kind  TEXT,
    pid         INTEGER NOT NULL,
    host        TEXT NOT NULL,
    PRIMARY KEY (run_id, number)
);
"""

_LEASES = """
CREATE TABLE lease (
    fence        INTEGER NOT NULL PRIMARY KEY,
    task         TEXT NOT NULL,
    window_start TEXT NOT NULL,
    window_end   TEXT NOT NULL,
    target       TEXT NOT NULL,
    pid          INTEGER NOT NULL,
    host         TEXT NOT NULL,
    machine      TEXT NOT NULL,
    born         TEXT NOT NULL,
    beat         INTEGER NOT NULL,
    seconds      REAL NOT NULL,
    taken_at     TEXT NOT NULL
);
"""

SCRIPTS: tuple[str, ...] = (_RUNS_AND_ATTEMPTS, _LEASES, _OUTBOX)


def version(connection: sqlite3.Connection, path: Path, *, newest: int = len(SCRIPTS)) -> int:
    """How many scripts the file has seen: 0 when it is empty.

    A file of a newer Setpoint, or of another program, is refused.
    """
    found, owner, tables = _header(connection)
    if owner != APPLICATION_ID and (owner or found or tables):
        raise LedgerError(
            f"{path} is a SQLite database, but not a Setpoint ledger.",
            next_step="Give the ledger a file of its own in setpoint.toml.",
        )
    if found > newest:
        raise LedgerError(
            f"The ledger {path} is of version {found}; this Setpoint knows up to {newest}.",
            next_step="Upgrade setpoint: pip install --upgrade setpoint",
        )
    return int(found)


def _header(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Version, owner and number of tables, all of one moment.

    Read one by one, the first could be those of an empty file and the last those of the ledger
    that another process made of it in between.
    """
    alone = not connection.in_transaction
    if alone:
        connection.execute("BEGIN")
    try:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    finally:
        if alone and connection.in_transaction:
            connection.execute("ROLLBACK")
    return int(found), int(owner), int(tables)


def migrate(
    connection: sqlite3.Connection, path: Path, *, scripts: Sequence[str] = SCRIPTS
) -> None:
    """Bring the file to the newest version, a script at a time, each in its own transaction."""
    while version(connection, path, newest=len(scripts)) < len(scripts):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have gone ahead while this one waited for the lock.
            seen = version(connection, path, newest=len(scripts))
            if seen < len(scripts):
                for statement in statements(scripts[seen]):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {seen + 1}")
            connection.execute("COMMIT")
        except BaseException:
            # SQLite itself rolls back on some errors, such as a full disk.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def statements(script: str) -> Iterator[str]:
    """The script's statements one by one: `executescript` would end the transaction."""
    held = ""
    for line in script.splitlines(keepends=True):
        held += line
        if held.strip() and sqlite3.complete_statement(held):
            yield held
            held = ""
