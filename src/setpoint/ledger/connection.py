"""Connections to the ledger's file, and the one place where SQLite's errors become ours."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from setpoint.errors import LedgerError
from setpoint.ledger import schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUSY_SECONDS = 30.0
CACHE_KIB = 64 * 1024

# Connections that a fork carried into this process. SQLite forbids a child to use them, and
# closing one that was in the middle of a write would damage the parent's file: so they are kept.
_INHERITED: list[object] = []

# SQLite's own words (its codes reach Python only from 3.11 on) → what to say, what to do next.
_EXPLAINED: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("not a database", "malformed", "file is encrypted"),
        "is damaged, or is not a SQLite file",
        "Move it away and run again: a window that is run again is set to the same rows.",
    ),
    (
        ("disk is full",),
        "cannot grow: the disk is full",
        "Free some space and run again.",
    ),
    (
        ("readonly database", "unable to open database", "access permission denied"),
        "cannot be opened for writing",
        "Check that the file and its folder belong to you and can be written to.",
    ),
    (
        ("is locked",),
        f"was kept locked by another process for {BUSY_SECONDS:.0f} s",
        "See which process holds it (a stopped run, an open database browser) and run again.",
    ),
)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite or the file system says into an error with the path and the next step."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        said = str(error)
        for words, what, next_step in _EXPLAINED:
            if any(word in said for word in words):
                raise LedgerError(f"The ledger {path} {what}.", next_step=next_step) from error
        raise LedgerError(
            f"The ledger {path} cannot be used: {said}.",
            next_step="Check the disk that it lies on; `setpoint doctor` tells more.",
        ) from error
    except OSError as error:
        raise LedgerError(
            f"The ledger {path} cannot be used: {error.strerror or error}.",
            next_step="Check that its folder exists and can be written to.",
        ) from error


class Connections:
    """One connection a thread, opened on first use; a forked process opens its own."""

    def __init__(self, path: Path, *, readonly: bool) -> None:
        self.path = path
        self._readonly = readonly
        self._start_afresh()

    def _start_afresh(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._open: dict[threading.Thread, sqlite3.Connection] = {}
        self._file: tuple[int, int] | None = None

    def here(self) -> sqlite3.Connection:
        """The calling thread's connection."""
        if self._pid != os.getpid():
            _INHERITED.append(self._open)
            self._start_afresh()
        thread = threading.current_thread()
        connection = self._open.get(thread)
        if connection is None:
            connection = _reading(self.path) if self._readonly else _writing(self.path)
            with self._lock:
                for ended in [each for each in self._open if not each.is_alive()]:
                    self._open.pop(ended).close()
                self._open[thread] = connection
                self._file = self._file or _identity(self.path)
        return connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: one at a time over all processes, all of it kept or nothing."""
        connection = self.here()
        self._check_file()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            # SQLite itself rolls back on some errors, such as a full disk.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _check_file(self) -> None:
        # SQLite goes on writing to a file that was deleted, and no other process would see it.
        if _identity(self.path) != self._file:
            raise LedgerError(
                f"The ledger {self.path} was deleted or replaced while it was in use.",
                next_step="Run again: a window that is run again is set to the same rows.",
            )

    def close(self) -> None:
        """Close the connections of every thread."""
        if self._pid != os.getpid():
            return
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _connect(path: Path, parameters: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{parameters}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,  # transactions begin and end where the code says so
        check_same_thread=False,  # only to close those of ended threads
    )


def _writing(path: Path) -> sqlite3.Connection:
    connection = _connect(path, "mode=rwc")
    try:
        schema.version(connection, path)  # a foreign or newer file is left as it is
        _write_ahead(connection)
        # A fence that was given out must outlive a power cut, or it is given out twice.
        connection.execute("PRAGMA synchronous = FULL")
        # Taken only as needed: a batch of 100,000 windows stays in memory until its commit.
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        schema.migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    # The change to WAL needs the file alone and does not wait for it: SQLite answers "locked" at
    # once when two processes open a new ledger together.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _reading(path: Path) -> sqlite3.Connection:
    # Not `mode=ro`: such a connection leaves its -wal and -shm files behind.
    connection = _connect(path, "mode=rw")
    try:
        connection.execute("PRAGMA query_only = ON")
        _check_readable(connection, path)
    except sqlite3.OperationalError as error:
        connection.close()
        beside = path.with_name(path.name + "-wal")
        kept_out = "unable to open" in str(error) or "readonly" in str(error)
        if not kept_out or not path.is_file() or beside.exists():
            raise
        # A folder that cannot be written to, and no writer: the file alone is the whole truth.
        connection = _connect(path, "mode=ro&immutable=1")
        _check_readable(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_readable(connection: sqlite3.Connection, path: Path) -> None:
    found = schema.version(connection, path)
    if found < len(schema.SCRIPTS):
        raise LedgerError(
            f"The ledger {path} is of version {found}, older than this Setpoint's"
            f" {len(schema.SCRIPTS)}; reading does not change it.",
            next_step="setpoint run brings it up to date.",
        )
