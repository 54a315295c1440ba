"""Facts of files that were read before, so that a second audit reads only what changed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import sqlite3
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LARGEST = 512 * 1024 * 1024
_KEEP_SECONDS = 14 * 24 * 3600
# SQLite's own limit on parameters of one statement is 32,766.
_CHUNK = 10_000


def cache_folder() -> Path:
    """The user's cache folder for audits."""
    home = os.environ.get("XDG_CACHE_HOME")
    base = Path(home) if home and Path(home).is_absolute() else Path.home() / ".cache"
    return base / "setpoint" / "audit"


def code_mark() -> str:
    """A hash of everything that turns a text into facts: other code makes other facts."""
    digest = hashlib.blake2b(digest_size=12)
    words = (__version__, metadata.version("sqlglot"), platform.python_version())
    digest.update("\0".join(words).encode())
    here = Path(__file__).parent
    for place in sorted(here.rglob("*.py")):
        digest.update(place.relative_to(here).as_posix().encode())
        digest.update(place.read_bytes())
    return digest.hexdigest()


def facts_key(path: str, digest: bytes, *, context: bytes) -> str:
    """What the facts of a file depend on: its path, its content and the project around it."""
    key = hashlib.blake2b(digest_size=20)
    for part in (path.encode("utf-8", "surrogateescape"), context, digest):
        key.update(len(part).to_bytes(8, "big"))
        key.update(part)
    return key.hexdigest()


class FactsCache:
    """A SQLite file of pickled facts. A cache that fails, or has no folder, is empty."""

    def __init__(self, folder: Path | None, mark: str) -> None:
        self._database: sqlite3.Connection | None = None
        if folder is None:
            return
        self._folder = folder
        self._place = folder / f"facts-{mark}.sqlite"
        with contextlib.suppress(OSError, sqlite3.Error):
            self._open()

    def _open(self) -> None:
        # Facts are unpickled: nobody else may put them here.
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        about = self._folder.stat()
        if about.st_uid != os.getuid() or about.st_mode & 0o022:
            return
        self._tidy()
        try:
            self._database = self._connect()
        except sqlite3.DatabaseError:
            # Cut off by a full disk or a power cut: nothing in it is worth saving.
            self._place.unlink(missing_ok=True)
            self._database = self._connect()

    def _connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._place, timeout=2.0, isolation_level=None)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = OFF")
            database.execute(
                "CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, facts BLOB) WITHOUT ROWID"
            )
        except sqlite3.Error:
            database.close()
            raise
        return database

    def _tidy(self) -> None:
        """Drop the caches of other versions that nobody used lately, and one that grew too big."""
        for place in self._folder.glob("facts-*.sqlite*"):
            about = place.stat()
            stale = time.time() - about.st_mtime > _KEEP_SECONDS
            if (stale and not place.name.startswith(self._place.name)) or about.st_size > _LARGEST:
                place.unlink(missing_ok=True)

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """What is known of the keys."""
        if self._database is None:
            return {}
        asked = list(keys)
        found: dict[str, bytes] = {}
        try:
            for start in range(0, len(asked), _CHUNK):
                part = asked[start : start + _CHUNK]
                marks = ",".join("?" * len(part))
                rows = self._database.execute(
                    f"SELECT key, facts FROM facts WHERE key IN ({marks})",  # noqa: S608 - marks only
                    part,
                )
                found.update(rows)
        except sqlite3.Error:
            return {}
        return found

    def put(self, facts: Mapping[str, bytes]) -> None:
        """Remember facts; another audit that writes at the same time may win."""
        if self._database is None or not facts:
            return
        with contextlib.suppress(sqlite3.Error):
            self._database.execute("BEGIN")
            self._database.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())
            self._database.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        if self._database is not None:
            self._database.close()
