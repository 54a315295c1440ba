"""The consumer's side: an event is worked on once, and a repeat gets the first answer.

The keys that were processed stand in a table of the same database as the work, and are written in
the same transaction: both are kept, or neither.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from setpoint.errors import UsageError
from setpoint.ledger.instant import to_text, utc_now
from setpoint.model.idempotency_key import canonical_json, idempotency_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?\Z")


class ProcessedEvents:
    """The keys that were processed, with their answers, beside the data of a consumer.

    Args:
        connection: A connection of sqlite3 or psycopg 3, the one that the work is done on.
        table: The table's name; `create()` makes it.
    """

    def __init__(self, connection: Any, *, table: str = "processed_events") -> None:
        if not TABLE.match(table):
            raise UsageError(f"{table!r} cannot be a table's name", next_step="schema.table")
        self.connection = connection
        self.table = table
        self.sqlite = type(connection).__module__.partition(".")[0] in ("sqlite3", "_sqlite3")

    def create(self) -> None:
        """Make the table where it is missing."""
        with self.transaction() as cursor:
            cursor.execute(
                f"CREATE TABLE IF NOT EXISTS {self.table}"
                " (key TEXT NOT NULL PRIMARY KEY, response TEXT, processed_at TEXT NOT NULL)"
            )

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """A cursor inside a transaction; inside the caller's own, if one is open."""
        if not self.sqlite:
            with self.connection.transaction(), self.connection.cursor() as cursor:
                yield cursor
            return
        nested = self.connection.in_transaction
        begin, end, undo = (
            ("SAVEPOINT once", "RELEASE once", "ROLLBACK TO once")
            if nested
            else ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
        )
        cursor = self.connection.cursor()
        cursor.execute(begin)
        try:
            yield cursor
            cursor.execute(end)
        except BaseException:
            cursor.execute(undo)
            raise
        finally:
            cursor.close()

    def is_new(self, cursor: Any, key: str) -> bool:
        """Take the key; another transaction that holds it is waited for."""
        cursor.execute(
            self.sql(
                f"INSERT INTO {self.table} (key, processed_at) VALUES (?, ?)"  # noqa: S608
                " ON CONFLICT (key) DO NOTHING"
            ),
            (key, to_text(utc_now())),
        )
        return bool(cursor.rowcount == 1)

    def answer(self, cursor: Any, key: str) -> Any:
        """What the first call answered."""
        query = f"SELECT response FROM {self.table} WHERE key = ?"  # noqa: S608
        cursor.execute(self.sql(query), (key,))
        (text,) = cursor.fetchone()
        return None if text is None else json.loads(text, parse_float=Decimal)

    def keep(self, cursor: Any, key: str, response: Any) -> Any:
        """Keep the answer for repeats; the answer as they will get it."""
        text = canonical_json(response)
        query = f"UPDATE {self.table} SET response = ? WHERE key = ?"  # noqa: S608
        cursor.execute(self.sql(query), (text, key))
        return json.loads(text, parse_float=Decimal)

    def sql(self, statement: str) -> str:
        """The statement in the placeholders of this database."""
        return statement if self.sqlite else statement.replace("?", "%s")


class Once:
    """One event, to be worked on once."""

    def __init__(self, key: str, store: ProcessedEvents) -> None:
        self.key = key
        self.store = store

    def __call__(self, work: Callable[[Any], Any]) -> Any:
        """Call `work(cursor)` if the event is new; the first answer otherwise."""
        with self.store.transaction() as cursor:
            if not self.store.is_new(cursor, self.key):
                return self.store.answer(cursor, self.key)
            return self.store.keep(cursor, self.key, work(cursor))


def once(key: Any, store: ProcessedEvents) -> Once:
    """Work on an event once, as in `once(event["key"], store)(work)`.

    `work(cursor)` does its writes on the cursor it is given, in the transaction that also keeps
    the key. It returns something that JSON can hold; a repeat gets that again. Raises it, nothing
    is kept, and the event may come again. A key that is not text is made one by
    `idempotency_key`.
    """
    if key is None or key == "":
        raise UsageError("an event without a key cannot be told from its repeat")
    return Once(key if isinstance(key, str) else idempotency_key(key), store)
