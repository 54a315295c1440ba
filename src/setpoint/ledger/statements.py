"""SQL that any store of records can carry out: `?` for values, plain types, no dialect."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    Row = tuple[Any, ...]
    Execute = Callable[[str, Sequence[object]], list[Row]]


class Statements(Protocol):
    """Where records that have a file of their own are kept."""

    def query(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """The rows of a SELECT."""
        ...

    def transaction(self) -> AbstractContextManager[Execute]:
        """A write transaction: other writers wait, and all of it is kept or nothing."""
        ...


class MemoryStatements:
    """The same in memory, for a ledger that lives as long as its process."""

    def __init__(self, *scripts: str) -> None:
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False
        )
        for script in scripts:
            self._connection.executescript(script)

    def query(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """The rows of a SELECT."""
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[Execute]:
        """One transaction at a time."""
        with self._lock:
            self._connection.execute("BEGIN")
            try:
                yield self.query
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
