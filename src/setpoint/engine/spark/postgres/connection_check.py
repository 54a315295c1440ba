"""Whether a Postgres connection can be worked with: reached, new enough, and with the rights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setpoint.engine.spark.postgres.connection import Login, connected, run
from setpoint.engine.spark.postgres.translation import STAGING

if TYPE_CHECKING:
    from setpoint.model.settings import ConnectionSettings

OLDEST = 130000
"""Transactions are told apart by functions that came with this version."""
KEPT = ("setpoint", STAGING)
FACTS = """
SELECT current_setting('server_version'), current_setting('server_version_num')::int,
  current_database(), current_user, pg_is_in_recovery(),
  has_database_privilege(current_database(), 'CREATE')
"""
SCHEMAS = """
SELECT nspname, has_schema_privilege(oid, 'CREATE') AND has_schema_privilege(oid, 'USAGE')
FROM pg_namespace WHERE nspname = ANY($1)
"""


@dataclass(frozen=True, kw_only=True)
class ConnectionFacts:
    """What a server says about itself and about the user."""

    version: str
    number: int
    database: str
    user: str
    readonly: bool
    may_create: bool
    """The user may make schemas in the database."""
    schemas: dict[str, bool]
    """Which of Setpoint's own schemas are there, and whether the user may make tables in them."""

    @property
    def found(self) -> str:
        """Where one is, in a line."""
        return f"Postgres {self.version}, database {self.database}, user {self.user}"

    def fault(self) -> tuple[str, str] | None:
        """What stands in the way of a run, and what to do about it."""
        if self.number < OLDEST:
            return "too old", f"use Postgres {OLDEST // 10000} or newer"
        if self.readonly:
            return "a replica, which cannot be written", "connect to the primary server"
        user, database = (f'"{name}"' for name in (self.user, self.database))
        for schema in KEPT:
            if schema not in self.schemas and not self.may_create:
                return (
                    f"the user may not make the schema {schema}",
                    f"GRANT CREATE ON DATABASE {database} TO {user}",
                )
            if self.schemas.get(schema) is False:
                return (
                    f"the user may not make tables in the schema {schema}",
                    f"GRANT USAGE, CREATE ON SCHEMA {schema} TO {user}",
                )
        return None


def connection_facts(settings: ConnectionSettings) -> ConnectionFacts:
    """Ask the server."""
    with connected(Login.of(settings)) as connection:
        row: Any = run(connection, FACTS).fetchone()
        schemas = dict(run(connection, SCHEMAS, list(KEPT)).fetchall())
    version, number, database, user, readonly, may_create = row
    return ConnectionFacts(
        version=version.partition(" ")[0],
        number=number,
        database=database,
        user=user,
        readonly=readonly,
        may_create=may_create,
        schemas=schemas,
    )
