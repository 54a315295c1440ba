"""Reaching a Postgres server. Passwords stay in this process and in what it hands to workers."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote as percent_encoded

from setpoint.engine.spark.postgres.translation import translate
from setpoint.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import psycopg

    from setpoint.model.settings import ConnectionSettings

HIDDEN = "***"
PATIENCE_SECONDS = 10
# What libpq and the JDBC driver call differently; what is not here is called the same or unknown.
JDBC_NAMES = {
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "connect_timeout": "connectTimeout",
    "application_name": "ApplicationName",
    "options": "options",
}
SESSION = "SET TIME ZONE 'UTC'; SET datestyle = 'ISO, YMD'"


@dataclass(frozen=True, kw_only=True)
class Login:
    """Where a server is and how to get in."""

    name: str
    parameters: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, settings: ConnectionSettings) -> Login:
        """Understand the connection's URL; says which extra is missing if one is."""
        conninfo = _psycopg().conninfo
        try:
            given = conninfo.conninfo_to_dict(settings.url)
        except Exception:  # noqa: BLE001 — libpq quotes the whole text, with the password in it
            raise UsageError(
                f"the URL of the connection {settings.name} is not understood",
                next_step="postgresql://user@host:5432/database; put odd characters of a password "
                "into `password`, which needs no percent-encoding",
            ) from None
        parameters = {name: str(value) for name, value in given.items() if value is not None}
        password = settings.password or parameters.get("password") or os.environ.get("PGPASSWORD")
        if password:
            parameters["password"] = password
        parameters.setdefault("connect_timeout", str(PATIENCE_SECONDS))
        parameters.setdefault("application_name", "setpoint")
        return cls(name=settings.name, parameters={**parameters, "client_encoding": "utf8"})

    @property
    def text(self) -> str:
        """The parameters as libpq reads them, password and all."""
        return str(_psycopg().conninfo.make_conninfo("", **self.parameters))

    @property
    def jdbc_url(self) -> str:
        """The address for Java, without user and password."""
        hosts = self.parameters.get("host", "localhost").split(",")
        ports = self.parameters.get("port", "5432").split(",")
        ports = ports * len(hosts) if len(ports) == 1 else ports
        places = ",".join(f"{host}:{port}" for host, port in zip(hosts, ports, strict=True))
        name = self.parameters.get("dbname") or self.parameters.get("user") or "postgres"
        return f"jdbc:postgresql://{places}/{percent_encoded(name, safe='')}"

    @property
    def jdbc_properties(self) -> dict[str, str]:
        """Everything else that Java needs, the password among it."""
        found = {
            java: self.parameters[libpq]
            for libpq, java in JDBC_NAMES.items()
            if libpq in self.parameters
        }
        for name in ("user", "password"):
            if name in self.parameters:
                found[name] = self.parameters[name]
        return {**found, "driver": "org.postgresql.Driver"}

    def redacted(self, text: str) -> str:
        """The text without the password, however it was written in it."""
        password = self.parameters.get("password")
        if password:
            for form in {password, percent_encoded(password, safe=""), percent_encoded(password)}:
                text = text.replace(form, HIDDEN)
        return re.sub(r"(?i)(password=)('[^']*'|\S+)", rf"\1{HIDDEN}", text)


@contextmanager
def connected(login: Login) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """A connection in a transaction that is committed at the end, or undone by an error."""
    psycopg = _psycopg()
    # Raw cursors leave a percent sign in a name alone.
    options = {**login.parameters, "cursor_factory": psycopg.RawCursor}
    with translated(login), psycopg.connect(**options) as connection:
        connection.execute(SESSION)
        yield connection


@contextmanager
def translated(login: Login) -> Iterator[None]:
    """Errors of the server and its drivers in Setpoint's words, without secrets."""
    try:
        yield
    except _psycopg().Error as error:
        raise translate(error.sqlstate, login.redacted(str(error)), place=login.name) from None


class Answer(Protocol):
    """What a statement gave back."""

    @property
    def rowcount(self) -> int:
        """The rows that it changed."""
        ...

    def fetchone(self) -> Any:
        """Its next row; None after the last."""
        ...

    def fetchall(self) -> list[Any]:
        """The rows that are left."""
        ...


class Connection(Protocol):
    """A connection in a transaction, of whichever driver."""

    def execute(self, query: bytes, values: Sequence[Any] | None = None, /) -> Answer:
        """Run one statement, with values beside it."""
        ...


def run(connection: Connection, query: str, *values: Any) -> Answer:
    """Run a statement that Setpoint built; values go beside it, never into it."""
    return connection.execute(query.encode(), values or None)


def _psycopg() -> Any:
    try:
        import psycopg
        import psycopg.conninfo
    except ModuleNotFoundError:
        raise MissingExtra("psycopg", "postgres") from None
    return psycopg
