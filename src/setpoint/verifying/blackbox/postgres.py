"""A table of a Postgres database, or all of a schema."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from setpoint.errors import MissingExtra, UsageError
from setpoint.verifying.blackbox.destination import shown
from setpoint.verifying.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.verifying.rows import Tables

SCRATCH = "setpoint_verify"
SEEN = "CREATE TABLE {} (txid bigint, tbl text, n bigint, s numeric, PRIMARY KEY (txid, tbl))"
FUNCTION = "CREATE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS {}"
TRIGGER = (
    "CREATE TRIGGER {} BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON {} "
    "FOR EACH STATEMENT EXECUTE FUNCTION {}()"
)
# Before its first change each transaction notes what the ones before it have left. The first
# fifty tell enough, and a job of thousands of commits is not slowed down by them.
SEE = """
BEGIN
  IF (SELECT count(*) < 50 AND count(*) FILTER (WHERE txid = txid_current()
      AND tbl = TG_TABLE_NAME) = 0 FROM LOG) THEN
    EXECUTE format('INSERT INTO LOG SELECT txid_current(), %L, count(*), '
      'sum(hashtext(t::text)::bigint) FROM %I.%I AS t',
      TG_TABLE_NAME, TG_TABLE_SCHEMA, TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END
"""


class PostgresDestination:
    """Tables of one database; kept as copies in a schema of their own, put back by rows.

    Keys, indexes and triggers of the tables stay as they are. A table that the command made is
    dropped again; one that it dropped and made anew is put back with its rows and columns.
    """

    def __init__(self, url: str, table: str) -> None:
        if not table:
            raise UsageError(
                f"--target {shown(url)} names no table",
                next_step="--target postgresql://user@host/database#schema.table (or #schema.*)",
            )
        schema, dot, name = table.rpartition(".")
        self._url = url
        self._schema = schema if dot else "public"
        self._table = name
        self.name = f"{shown(url)}#{table}"
        self._mark = secrets.token_hex(4)
        self._count = 0
        self._watching: Any = None

    def read(self) -> Tables:
        """The rows of every table, of one moment."""
        with self._connection() as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            return {
                f"{self._schema}.{name}": self._rows(connection, name)
                for name in self._tables(connection)
            }

    def glance(self) -> object:
        """The number of rows and a sum of their hashes; over one connection, to be quick."""
        import psycopg

        try:
            if self._watching is None:
                self._watching = psycopg.connect(self._url, autocommit=True)
            sums = {}
            for name in self._tables(self._watching):
                query = _sql(
                    "SELECT count(*), sum(hashtext(t::text)::bigint) FROM {} AS t",
                    _name(self._schema, name),
                )
                found = self._watching.execute(query).fetchone()
                if found[0]:
                    sums[name] = found
        except psycopg.Error:  # a table that was dropped meanwhile, a server that restarts
            self._watching = None
            return None
        return sums

    @contextmanager
    def between(self) -> Iterator[list[object]]:
        """What the next transaction found, for each of a run: noted by triggers of our own."""
        states: list[object] = []
        at_first = self.glance()
        log = f"seen_{self._mark}"
        with self._connection() as connection:
            connection.execute(_sql("CREATE SCHEMA IF NOT EXISTS {}", SCRATCH))
            connection.execute(_sql(SEEN, _name(SCRATCH, log)))
            body = SEE.replace("LOG", f"{SCRATCH}.{log}")
            connection.execute(_sql(FUNCTION, _name(SCRATCH, log), _text(body)))
            for table in self._tables(connection):
                place = _name(self._schema, table)
                connection.execute(_sql(TRIGGER, log, place, _name(SCRATCH, log)))
        try:
            yield states
        finally:
            with self._connection() as connection:
                seen = connection.execute(
                    _sql("SELECT txid, tbl, n, s FROM {} ORDER BY txid", _name(SCRATCH, log))
                ).fetchall()
                states += _states(at_first, seen)
                connection.execute(_sql("DROP FUNCTION {} CASCADE", _name(SCRATCH, log)))
                connection.execute(_sql("DROP TABLE {}", _name(SCRATCH, log)))

    def keep(self) -> object:
        """Copies of the tables in a schema of their own, and where their sequences stand."""
        self._count += 1
        kept: dict[str, str] = {}
        with self._connection() as connection:
            connection.execute(_sql("CREATE SCHEMA IF NOT EXISTS {}", SCRATCH))
            for number, name in enumerate(self._tables(connection)):
                copy = f"k{self._mark}_{self._count}_{number}"
                source = _name(self._schema, name)
                connection.execute(
                    _sql("CREATE TABLE {} AS TABLE {}", _name(SCRATCH, copy), source)
                )
                kept[name] = copy
            return kept, self._sequences(connection)

    def restore(self, kept: object) -> None:
        """Put the rows back in one transaction; tables that were not there are dropped."""
        copies, sequences = cast("tuple[dict[str, str], dict[str, tuple[Any, ...]]]", kept)
        with self._connection() as connection:
            now = self._tables(connection)
            for name in now:
                if name not in copies:
                    connection.execute(_sql("DROP TABLE {} CASCADE", _name(self._schema, name)))
            for name, copy in copies.items():
                source, target = _name(SCRATCH, copy), _name(self._schema, name)
                if name in now and self._columns(connection, self._schema, name) == self._columns(
                    connection, SCRATCH, copy
                ):
                    connection.execute(_sql("DELETE FROM {}", target))
                    connection.execute(
                        _sql(
                            "INSERT INTO {} OVERRIDING SYSTEM VALUE SELECT * FROM {}",
                            target,
                            source,
                        )
                    )
                else:
                    connection.execute(_sql("DROP TABLE IF EXISTS {} CASCADE", target))
                    connection.execute(_sql("CREATE TABLE {} AS TABLE {}", target, source))
            for name in self._sequences(connection):
                if name not in sequences:
                    connection.execute(_sql("DROP SEQUENCE {} CASCADE", _name(self._schema, name)))
            for name, (last, called) in sequences.items():
                connection.execute(
                    "SELECT setval(%s::regclass, %s, %s)",
                    [f'"{self._schema}"."{name}"', last, called],
                )

    def close(self) -> None:
        """Drop the copies, and their schema when it is empty."""
        if self._watching is not None:
            self._watching.close()
        with self._connection() as connection:
            found = connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename LIKE %s",
                [SCRATCH, f"k{self._mark}_%"],
            ).fetchall()
            for (name,) in found:
                connection.execute(_sql("DROP TABLE {}", _name(SCRATCH, name)))
            left = connection.execute(
                "SELECT count(*) FROM pg_tables WHERE schemaname = %s", [SCRATCH]
            ).fetchone()
            if left and not left[0]:
                connection.execute(_sql("DROP SCHEMA IF EXISTS {}", SCRATCH))

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        try:
            import psycopg
        except ModuleNotFoundError:
            raise MissingExtra("psycopg", "postgres") from None
        try:
            with psycopg.connect(self._url, connect_timeout=10) as connection:
                yield connection
        except psycopg.Error as error:
            words = str(error).strip().splitlines() or [type(error).__name__]
            raise UsageError(
                f"--target {self.name}: {shown(words[0])}",
                next_step="check the address, and that the table may be read and written",
            ) from None

    def _tables(self, connection: Any) -> list[str]:
        found = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1", [self._schema]
        ).fetchall()
        return [name for (name,) in found if self._table in ("*", name)]

    def _sequences(self, connection: Any) -> dict[str, tuple[Any, ...]]:
        names = connection.execute(
            "SELECT sequencename FROM pg_sequences WHERE schemaname = %s", [self._schema]
        ).fetchall()
        return {
            name: connection.execute(
                _sql("SELECT last_value, is_called FROM {}", _name(self._schema, name))
            ).fetchone()
            for (name,) in names
        }

    def _columns(self, connection: Any, schema: str, table: str) -> list[tuple[Any, ...]]:
        return cast(
            "list[tuple[Any, ...]]",
            connection.execute(
                "SELECT column_name, data_type FROM information_schema.columns "
                "WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position",
                [schema, table],
            ).fetchall(),
        )

    def _rows(self, connection: Any, table: str) -> Rows:
        found = connection.execute(_sql("SELECT * FROM {}", _name(self._schema, table)))
        return Rows.of([each.name for each in found.description], found.fetchall())


def _states(at_first: object, seen: list[tuple[Any, ...]]) -> list[object]:
    """The states by transaction, each as `glance` would have had it."""
    now: dict[str, tuple[Any, ...]] = dict(at_first) if isinstance(at_first, dict) else {}
    states: list[object] = []
    for _, table, count, total in seen:
        now[table] = (count, total)
        states.append({name: found for name, found in now.items() if found[0]})
    return states


def _text(value: str) -> Any:
    from psycopg import sql

    return sql.Literal(value)


def _name(*parts: str) -> Any:
    from psycopg import sql

    return sql.Identifier(*parts)


def _sql(text: str, *names: Any) -> Any:
    from psycopg import sql

    made = [sql.Identifier(name) if isinstance(name, str) else name for name in names]
    return sql.SQL(text).format(*made)
