"""A connection that copies rows inside the very transaction that sets the scope."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from setpoint.engine.spark.postgres.translation import translate
from setpoint.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from setpoint.engine.spark.postgres.connection import Login


@dataclass(kw_only=True)
class Answered:
    """The answer to a statement, read to its end: ADBC runs one statement at a time."""

    rowcount: int
    rows: list[Any] = field(default_factory=list)

    def fetchone(self) -> Any:
        """The next row; None after the last."""
        return self.rows.pop(0) if self.rows else None

    def fetchall(self) -> list[Any]:
        """The rows that are left."""
        rows, self.rows = self.rows, []
        return rows


class CopyConnection:
    """ADBC's connection: statements as over any other, and rows by binary COPY."""

    def __init__(self, adbc: Any) -> None:
        self._adbc = adbc

    def execute(self, query: bytes, values: Sequence[Any] | None = None, /) -> Answered:
        """Run one statement, with values beside it."""
        with self._adbc.cursor() as cursor:
            cursor.execute(query.decode(), values)
            rows = cursor.fetchall() if cursor.description else []
            return Answered(rowcount=cursor.rowcount, rows=rows)

    def copy(self, schema: str, table: str, rows: pa.Table) -> int:
        """Append rows whose columns have the names and the types of the table's."""
        with self._adbc.cursor() as cursor:
            return int(cursor.adbc_ingest(table, rows, mode="append", db_schema_name=schema))


@contextmanager
def copy_connected(login: Login) -> Iterator[CopyConnection]:
    """A connection in a transaction that is committed at the end, or undone by an error."""
    try:
        import adbc_driver_postgresql.dbapi as adbc
    except ModuleNotFoundError:
        raise MissingExtra("adbc-driver-postgresql", "postgres") from None
    try:
        with adbc.connect(login.text) as connection:
            yield CopyConnection(connection)
            connection.commit()
    except adbc.Error as error:
        raise translate(error.sqlstate, login.redacted(str(error)), place=login.name) from None
