"""Removing a copy that a verification made in a Postgres database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.engine.spark.postgres.connection import Login, connected, run
from setpoint.engine.spark.postgres.source import postgres_name

if TYPE_CHECKING:
    from setpoint.model.settings import ConnectionSettings
    from setpoint.model.table import TableName


def remove_copy(settings: ConnectionSettings, table: TableName) -> None:
    """Drop the table, if it was made at all."""
    with connected(Login.of(settings)) as connection:
        run(connection, f"DROP TABLE IF EXISTS {postgres_name(table)}")
