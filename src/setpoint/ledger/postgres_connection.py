"""Connections to the ledger's Postgres, and the one place where its errors become ours."""

from __future__ import annotations

import os
import re
import threading
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from setpoint.errors import LedgerError, MissingExtra
from setpoint.ledger import postgres_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import psycopg

    from setpoint.ledger.rows import Found

BUSY_SECONDS = 30
CONNECT_SECONDS = "10"
SESSION = f"""
SET search_path = {postgres_schema.NAME};
SET lock_timeout = '{BUSY_SECONDS}s';
SET idle_in_transaction_session_timeout = '{BUSY_SECONDS}s';
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') = 'off'
"""
LOCK_TIMEOUT = "55P03"
REFUSED = ("28", "42501")
# While connecting, the driver gives the server's words without its code.
REFUSED_WORDS = ("authentication failed", "no password supplied", "permission denied")

# As in the SQLite ledger: what a fork carried along is the parent's, and is left alone.
_INHERITED: list[object] = []


class Address:
    """Where the server is and how to get in. The password is in nothing that is shown."""

    def __init__(self, url: str) -> None:
        conninfo = driver().conninfo
        try:
            given = conninfo.conninfo_to_dict(url)
        except driver().Error:  # libpq quotes the whole text, with the password in it
            raise LedgerError(
                "The ledger's URL is not understood.",
                next_step='In setpoint.toml: url = "postgresql://user@host:5432/database" and'
                ' password = "${LEDGER_PASSWORD}"',
            ) from None
        self.parameters = {"connect_timeout": CONNECT_SECONDS, "application_name": "setpoint"}
        self.parameters |= {name: str(value) for name, value in given.items() if value is not None}

    def __str__(self) -> str:
        """Host, port and database."""
        host = self.parameters.get("host", "localhost")
        port, name = self.parameters.get("port", "5432"), self.parameters.get("dbname", "")
        return f"postgresql://{host}:{port}/{name}"


class Session:
    """A connection that takes the SQL of the ledger's tables."""

    def __init__(self, raw: psycopg.Connection[tuple[Any, ...]]) -> None:
        self.raw = raw

    def execute(self, sql: str, values: Sequence[object] | Mapping[str, object] = (), /) -> Found:
        """Carry a statement out."""
        return self.raw.execute(_translated(sql), values or None)


class PostgresConnections:
    """One connection a thread, opened on first use, and again when the server has cut it."""

    def __init__(self, url: str) -> None:
        self.address = Address(url)
        self._start_afresh()

    def _start_afresh(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._open: dict[threading.Thread, Session] = {}

    def here(self) -> Session:
        """The calling thread's connection."""
        if self._pid != os.getpid():
            _INHERITED.append(self._open)
            self._start_afresh()
        thread = threading.current_thread()
        session = self._open.get(thread)
        if session is None or session.raw.closed:
            session = self._connected()
            with self._lock:
                for ended in [each for each in self._open if not each.is_alive()]:
                    self._open.pop(ended).raw.close()
                self._open[thread] = session
        return session

    def _connected(self) -> Session:
        # Statements are not prepared: a pool between here and the server may not know them.
        raw = driver().connect(**self.address.parameters, autocommit=True, prepare_threshold=None)
        raw.execute(SESSION)
        return Session(raw)

    @contextmanager
    def asking(self) -> Iterator[Session]:
        """A connection on which each question is answered as of its own moment."""
        yield self._begun("SELECT 1")

    @contextmanager
    def one_moment(self) -> Iterator[Session]:
        """A connection on which several questions are answered as of one moment."""
        with _ended(self._begun("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")) as session:
            yield session

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """A write transaction: one at a time over all processes, all of it kept or nothing.

        The row that holds the last fence is locked first, so that writers follow each other.
        """
        begin = "BEGIN ISOLATION LEVEL READ COMMITTED"
        with _ended(self._begun(begin, "SELECT last FROM fence FOR UPDATE")) as session:
            yield session

    def _begun(self, *statements: str) -> Session:
        for again in (True, False):
            session = self.here()
            try:
                for statement in statements:
                    session.execute(statement)
            except driver().OperationalError:
                # A server that was restarted cuts idle connections, and nothing was done on it yet.
                if not session.raw.closed or not again:
                    _roll_back(session)
                    raise
            else:
                break
        return session

    def close(self) -> None:
        """Close the connections of every thread."""
        if self._pid != os.getpid():
            return
        with self._lock:
            while self._open:
                self._open.popitem()[1].raw.close()


@contextmanager
def explained(address: Address) -> Iterator[None]:
    """Turn what the server says into an error with its address and the next step."""
    try:
        yield
    except driver().Error as error:
        state = error.sqlstate or ""
        said = str(error).strip().splitlines()
        password = address.parameters.get("password")
        words = (said[0] if said else type(error).__name__).replace(password or "\0", "***")
        if state == LOCK_TIMEOUT:
            raise LedgerError(
                f"The ledger {address} was kept locked by another process for {BUSY_SECONDS} s.",
                next_step="See pg_stat_activity for who holds it, and run again.",
            ) from None
        if state.startswith(REFUSED) or any(each in words for each in REFUSED_WORDS):
            raise LedgerError(
                f"The ledger {address} refuses its user: {words}",
                next_step="Check user and password in setpoint.toml; the user needs the right to"
                f" create the schema {postgres_schema.NAME}, or all rights in it.",
            ) from None
        raise LedgerError(
            f"The ledger {address} cannot be used: {words}",
            next_step="Check that the server runs and can be reached, and run again.",
        ) from None


@contextmanager
def _ended(session: Session) -> Iterator[Session]:
    try:
        yield session
        session.execute("COMMIT")
    except BaseException:
        _roll_back(session)
        raise


def _roll_back(session: Session) -> None:
    # The server undoes what a lost connection had begun.
    with suppress(driver().Error):
        session.execute("ROLLBACK")


@lru_cache
def _translated(sql: str) -> bytes:
    """The statement with placeholders as psycopg has them."""
    return re.sub(r"(?<!:):(\w+)", r"%(\1)s", sql.replace("?", "%s")).encode()


def driver() -> Any:
    """psycopg; says which extra is missing when it is."""
    try:
        import psycopg
        import psycopg.conninfo
    except ModuleNotFoundError:
        raise MissingExtra("psycopg", "postgres") from None
    return psycopg
