"""The staging table of one attempt: made for it, and gone with it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.engine.spark.postgres.connection import connected, run
from setpoint.engine.spark.postgres.statements import (
    CREATE_COMMITS,
    PREPARED,
    STAGED,
    create_staging_sql,
    lock_number,
    staging_prefix,
    staging_table,
)
from setpoint.engine.spark.postgres.translation import STAGING
from setpoint.errors import RunError
from setpoint.failpoint import failpoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from setpoint.engine.spark.postgres.connection import Connection, Login

# A client that was stopped in the middle of a copy holds its table; it is no reason to wait.
SHORT_WAIT = "SET LOCAL lock_timeout = '2s'"


@dataclass(frozen=True, kw_only=True)
class Staging:
    """A table that rows are copied into before one transaction moves them."""

    login: Login
    name: str

    @property
    def table(self) -> str:
        """The table, quoted, with its schema."""
        return staging_table(self.name)


@contextmanager
def staged(
    login: Login, *, target: str, scope: str, fence: int, types: Sequence[str]
) -> Iterator[Staging]:
    """A staging table for an attempt; the transaction that empties it drops it."""
    staging = Staging(login=login, name=f"{staging_prefix(target, scope)}{fence}")
    with connected(login) as connection:
        run(connection, f"DROP TABLE IF EXISTS {staging.table}")
        run(connection, create_staging_sql(staging.name, types))
    failpoint("postgres.staging.after")
    try:
        yield staging
    except BaseException:
        drop(login, staging.name)
        raise


def prepare(
    login: Login, *, target: str, scope: str, fence: int, seen: Sequence[str] | None = None
) -> None:
    """Make what Setpoint keeps in a database; drop what dead attempts on the scope left there.

    `seen` are the staging tables as `staging_tables` has found them a moment ago.
    """
    prefix = staging_prefix(target, scope)
    if seen is None:
        with connected(login) as connection:
            make_schemas(connection)
            seen = staging_tables(connection)
    drop_orphans(login, seen or (), prefix, fence)


def staging_tables(connection: Connection) -> list[str] | None:
    """All staging tables of the database; None when it has nothing of Setpoint's yet."""
    if run(connection, PREPARED, STAGING).fetchone() != (True,):
        return None
    return [name for (name,) in run(connection, STAGED, STAGING).fetchall()]


def make_schemas(connection: Connection) -> None:
    """Make what Setpoint keeps in a database, unless it is there."""
    if run(connection, PREPARED, STAGING).fetchone() == (True,):
        return
    # CREATE … IF NOT EXISTS by two processes at once can still fail.
    run(connection, f"SELECT pg_advisory_xact_lock({lock_number('schema')})")
    run(connection, f"{CREATE_COMMITS}; CREATE SCHEMA IF NOT EXISTS {STAGING}")


def drop_orphans(login: Login, names: Sequence[str], prefix: str, fence: int) -> None:
    """Drop the staging tables of older attempts on the same scope."""
    for name in names:
        number = name.removeprefix(prefix)
        if number.isdigit() and int(number) < fence:
            drop(login, name)


def drop(login: Login, name: str) -> None:
    """Drop a table if that is possible now; the next attempt on the scope tries again."""
    try:
        with connected(login) as connection:
            run(connection, SHORT_WAIT)
            run(connection, f"DROP TABLE IF EXISTS {staging_table(name)}")
    except RunError:
        return
