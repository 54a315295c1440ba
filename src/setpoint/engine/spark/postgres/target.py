"""Postgres as a target: one transaction sets the scope, with rows at hand or staged before."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from setpoint.engine.commit_mark import scope_name
from setpoint.engine.protocol import Outcome
from setpoint.engine.spark.postgres import statements as sql
from setpoint.engine.spark.postgres.connection import Connection, Login, connected, run
from setpoint.engine.spark.postgres.copy_connection import CopyConnection, copy_connected
from setpoint.engine.spark.postgres.copying import brought, copy, sendable
from setpoint.engine.spark.postgres.source import postgres_name, whole_view
from setpoint.engine.spark.postgres.staging import make_schemas, prepare, staged, staging_tables
from setpoint.engine.spark.postgres.types import fits, postgres_type, staging_type
from setpoint.engine.spark.target import TableState
from setpoint.errors import CommitConflict, GateFailed, ResultMisshapen, RunError, Transient
from setpoint.failpoint import failpoint
from setpoint.model.scope import usual_kind
from setpoint.model.write import Merge, window_column

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from setpoint.engine.commit_mark import CommitMark
    from setpoint.engine.spark.postgres.copying import Copied
    from setpoint.engine.spark.postgres.staging import Staging
    from setpoint.engine.spark.target import Writing
    from setpoint.model.settings import ConnectionSettings
    from setpoint.model.table import TableName
    from setpoint.model.task import Task

Open = TypeVar("Open", bound=Connection)
REDUCED = "pg_temp.setpoint_reduced"
SAMPLES = 5
LOOKUP_SECONDS = 10.0
LOOKUP_PAUSE = 0.2
LONGEST_NAME = 63
SILENCE_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class Applied:
    """What the transaction did."""

    rows: int
    replaced: int | None


class PostgresTarget:
    """One Postgres table that a task owns."""

    def __init__(self, spark: SparkSession, settings: ConnectionSettings, table: TableName) -> None:
        self.spark = spark
        self.table = table
        self.login = Login.of(settings)
        self.name = postgres_name(table)
        self._done: tuple[str, Outcome] | None = None
        self._plain = False
        self._staging_tables: list[str] | None = None

    def reference(self, snapshot: str | None = None) -> str:  # noqa: ARG002 — no history is kept
        """A view of the table as it stands; Postgres keeps no older ones."""
        return whole_view(self.spark, self.login, self.table)

    def state(self) -> TableState | None:
        """The table's columns; None when it does not exist."""
        with connected(self.login) as connection:
            columns = dict(run(connection, sql.COLUMNS, self.name).fetchall())
            base = run(connection, "SELECT pg_current_snapshot()::text").fetchone()
            keys = run(connection, sql.UNIQUE_KEYS, self.name).fetchall()
            # What the write asks next, while a connection is open.
            self._plain = run(connection, sql.PLAIN_TABLE, self.name).fetchone() == (True,)
            self._staging_tables = staging_tables(connection)
        if not columns:
            return None
        return TableState(
            columns=columns,
            snapshot=base[0] if base else None,
            unique_keys=tuple(tuple(key) for key, _ in keys),
        )

    def exists(self) -> bool:
        """Whether there is such a table."""
        return self.state() is not None

    def create(self, frame: DataFrame, task: Task) -> None:
        """Create the table from the result's columns, with the key as its primary key."""
        columns = {f.name: new_type(f.name, f.dataType.simpleString()) for f in frame.schema.fields}
        names = {name.lower(): name for name in columns}
        key = [names.get(column.lower(), column) for column in task_key(task)]
        by = window_column(task.write)
        by = names.get(by.lower(), by) if by else None
        with connected(self.login) as connection:
            run(connection, f"SELECT pg_advisory_xact_lock({sql.lock_number(self.name)})")
            if run(connection, "SELECT to_regclass($1)", self.name).fetchone() != (None,):
                return
            run(connection, f"CREATE SCHEMA IF NOT EXISTS {sql.identifier(self.table.parts[1])}")
            for statement in sql.create_table_sql(self.name, columns, key, by):
                run(connection, statement)

    def write(self, writing: Writing) -> None:
        """Make the scope match the frame in one transaction that carries the token."""
        schema = writing.frame.schema
        shape = self._shape(schema, writing)
        scope = scope_name(writing.window)
        fence = writing.token.fence
        seen = self._staging_tables
        prepare(self.login, target=self.name, scope=scope, fence=fence, seen=seen)
        failpoint("postgres.prepare.after")
        sent = sendable(writing.frame)
        rows = brought(sent)
        if rows is not None and self._goes_straight(schema, shape):

            def set_straight(connection: CopyConnection) -> Applied:
                return self._set_straight(connection, writing, shape, rows)

            self._transact(writing, copy_connected, set_straight)
            return
        types = [staging_type(field.dataType.simpleString()) for field in schema.fields]
        with staged(self.login, target=self.name, scope=scope, fence=fence, types=types) as staging:
            copied = copy(sent, rows, staging)
            failpoint("postgres.copy.after")

            def set_staged(connection: Connection) -> Applied:
                applied = self._apply(connection, writing, shape, staging, copied)
                run(connection, f"DROP TABLE {staging.table}")
                return applied

            self._transact(writing, connected, set_staged)

    def commit(self, run_id: str) -> Outcome | None:
        """The newest commit of a run, from the record inside its own transaction."""
        if self._done is not None and self._done[0] == run_id:
            return self._done[1]
        with connected(self.login) as connection:
            if run(connection, "SELECT to_regclass($1)", sql.COMMITS).fetchone() == (None,):
                return None
            make_schemas(connection)
            found = run(connection, sql.FOUND, self.name, run_id).fetchone()
        if found is None:
            return None
        rows, replaced, transaction, inputs = found
        return Outcome(
            rows=rows,
            replaced=replaced,
            snapshot=transaction,
            inputs=json.loads(inputs or "{}"),
        )

    def strangers_since(self, snapshot: str | None) -> bool:  # noqa: ARG002 — a database keeps no history
        """Nobody can tell."""
        return False

    def marks(self) -> list[CommitMark]:
        """None: the transaction itself refuses who was overtaken, behind the scope's lock."""
        return []

    def drop(self) -> None:
        """Remove the table, if it is there, and the record of its commits."""
        with connected(self.login) as connection:
            run(connection, f"DROP TABLE IF EXISTS {self.name}")
            if run(connection, "SELECT to_regclass($1)", sql.COMMITS).fetchone() != (None,):
                run(connection, f"DELETE FROM {sql.COMMITS} WHERE target = $1", self.name)  # noqa: S608

    def highest_fence(self) -> int:
        """The highest fence among the commits that the database remembers; 0 for none."""
        with connected(self.login) as connection:
            if run(connection, "SELECT to_regclass($1)", sql.COMMITS).fetchone() == (None,):
                return 0
            found = run(connection, sql.HIGHEST, self.name).fetchone()
        return int(found[0] or 0) if found else 0

    def _shape(self, schema: StructType, writing: Writing) -> sql.Shape:
        have = {name.lower(): name for name in writing.state.columns}
        columns = {}
        for field in schema.fields:
            name = have[field.name.lower()]
            columns[name] = kind = writing.state.columns[name]
            spark = field.dataType.simpleString()
            if not fits(spark, kind):
                raise ResultMisshapen(
                    f"{field.name} is a {spark}, and the table's {name} a {kind}; "
                    "nothing was written",
                    facts={"expected": new_type(field.name, spark), "found": kind},
                    next_step="cast the column in the task, or change the table",
                )
        merge = writing.task.write if isinstance(writing.task.write, Merge) else None
        shape = sql.Shape(
            table=self.name,
            columns=columns,
            key=tuple(have[column.lower()] for column in merge.on) if merge else (),
            version=have[merge.version.lower()] if merge and merge.version else None,
            order=tuple(have[column.lower()] for column in writing.task.unique_key),
        )
        if merge and not any(set(key) == set(shape.key) for key in writing.state.unique_keys):
            listed = ", ".join(map(sql.identifier, shape.key))
            raise ResultMisshapen(
                "the table has no unique index on the key that the task merges by",
                facts={"expected": f"a unique index on {', '.join(shape.key)}"},
                next_step=f"CREATE UNIQUE INDEX ON {self.name} ({listed})",
            )
        return shape

    def _goes_straight(self, schema: StructType, shape: sql.Shape) -> bool:
        """Whether rows can be copied into the table itself: nothing to cast, nothing in between."""
        sent = [staging_type(field.dataType.simpleString()) for field in schema.fields]
        return self._plain and not shape.key and sent == list(shape.columns.values())

    def _transact(
        self,
        writing: Writing,
        connect: Callable[[Login], AbstractContextManager[Open]],
        apply: Callable[[Open], Applied],
    ) -> None:
        ending = False
        try:
            with connect(self.login) as connection:
                self._begin(connection, writing)
                failpoint("postgres.begin.after")
                applied = apply(connection)
                failpoint("postgres.apply.after")
                outcome = self._record(connection, writing, applied)
                failpoint("postgres.commit.before")
                ending = True
            failpoint("postgres.commit.after")
            # Without an answer the record is looked up when it is asked for.
            self._done = (writing.token.run_id, outcome) if outcome else None
        except Transient:
            # The answer to COMMIT may be what was lost; whether it took place is looked up.
            if not ending or not self._took_place(writing):
                raise

    def _begin(self, connection: Connection, writing: Writing) -> None:
        scope = scope_name(writing.window)
        run(connection, sql.LIMITS)
        self._cut_off_stalled(connection, scope)
        run(connection, sql.lock_sql(self.name, scope))
        newest = run(connection, sql.NEWEST, self.name, scope).fetchone()
        if newest is not None and newest[0] > writing.token.fence:
            raise CommitConflict(
                f"a newer attempt (fence {newest[0]}, run {newest[1]}) has set the same scope; "
                "nothing was committed",
                next_step="setpoint status shows it. If the ledger was begun anew: "
                f"delete the rows of target {self.name} from {sql.COMMITS}",
            )

        values = (self.name, scope, writing.state.snapshot)
        if isinstance(writing.task.write, Merge) or values[2] is None:
            return  # versions, not order, decide what a merge leaves
        since = run(connection, sql.SINCE, *values).fetchone()
        if since is not None:
            raise CommitConflict(
                f"run {since[0]} has set the same scope since this one began; "
                "nothing was committed",
                next_step="run the same command again",
            )

    def _cut_off_stalled(self, connection: Connection, scope: str) -> None:
        """End a client that holds the scope and has stopped in the middle of its copy."""
        query = sql.stalled_sql(self.name, scope, sql.STALLED_SECONDS)
        found = run(connection, query).fetchall()
        if found:
            time.sleep(SILENCE_SECONDS)
            # A transaction sees what others do as it was when it first looked.
            run(connection, "SELECT pg_stat_clear_snapshot()::text")
            for pid, _ in set(found) & set(run(connection, query).fetchall()):
                run(connection, f"SELECT pg_terminate_backend({int(pid)})::text")

    def _set_straight(
        self, connection: CopyConnection, writing: Writing, shape: sql.Shape, rows: pa.Table
    ) -> Applied:
        """Delete and copy without a staging table: the transaction alone keeps readers from it."""
        replaced = run(connection, sql.delete_sql(shape, self._bounds(writing))).rowcount
        failpoint("postgres.straight-delete.after")
        named = rows.rename_columns(list(shape.columns))
        if shape.order and len(named) > 1:
            # An index that is fed in its order touches each page once.
            with suppress(NotImplementedError):  # Arrow has no order for some types
                named = named.sort_by([(name, "ascending") for name in shape.order])
        _, schema, table = self.table.parts
        copied = connection.copy(schema, table, named)
        failpoint("postgres.straight-copy.after")
        check_count(copied, len(rows))
        return Applied(rows=copied, replaced=replaced)

    def _apply(
        self,
        connection: Connection,
        writing: Writing,
        shape: sql.Shape,
        staging: Staging,
        copied: Copied,
    ) -> Applied:
        attempts = list(copied.attempts)
        if isinstance(writing.task.write, Merge):
            return self._merge(connection, shape, staging, copied)
        replaced = run(connection, sql.delete_sql(shape, self._bounds(writing))).rowcount
        failpoint("postgres.delete.after")
        rows = run(connection, sql.insert_sql(shape, staging.table), attempts).rowcount
        check_count(rows, copied.rows)
        return Applied(rows=rows, replaced=replaced)

    def _merge(
        self, connection: Connection, shape: sql.Shape, staging: Staging, copied: Copied
    ) -> Applied:
        attempts = list(copied.attempts)
        counted = f"SELECT count(*) FROM {staging.table} WHERE {sql.ATTEMPT} = ANY($1)"  # noqa: S608
        found = run(connection, counted, attempts).fetchone()
        check_count(found[0] if found else 0, copied.rows)
        rows = run(connection, sql.reduce_sql(shape, staging.table, REDUCED), attempts).rowcount
        run(connection, f"ANALYZE {REDUCED}")
        failpoint("postgres.reduce.after")
        for query in (
            sql.ties_sql(shape, REDUCED, SAMPLES),
            sql.table_ties_sql(shape, REDUCED, SAMPLES),
        ):
            ties = run(connection, query).fetchall() if query else []
            if ties:
                raise tied(shape, ties)
        run(connection, sql.merge_sql(shape, REDUCED))
        return Applied(rows=rows, replaced=None)

    def _bounds(self, writing: Writing) -> str | None:
        by = window_column(writing.task.write)
        if by is None or writing.window is None:
            return None
        names = {name.lower(): name for name in writing.state.columns}
        kind = writing.kinds.target or usual_kind(writing.window)
        return sql.bounds_sql(names[by.lower()], kind, writing.window)

    def _record(self, connection: Connection, writing: Writing, applied: Applied) -> Outcome | None:
        scope, token = scope_name(writing.window), writing.token
        values = (self.name, scope, token.fence, writing.task.name, token.run_id)
        counts = (applied.rows, applied.replaced, json.dumps(dict(writing.inputs)))
        kept = run(connection, sql.RECORD, *values, *counts).fetchone()
        if kept is None:
            return None
        return Outcome(rows=applied.rows, replaced=applied.replaced, snapshot=kept[0])

    def _took_place(self, writing: Writing) -> bool:
        """Look the commit up; behind the scope's lock, so that it is not still under way."""
        until = time.monotonic() + LOOKUP_SECONDS
        scope, token = scope_name(writing.window), writing.token
        while True:
            try:
                with connected(self.login) as connection:
                    run(connection, sql.LIMITS)
                    run(connection, sql.lock_sql(self.name, scope))
                    newest = run(connection, sql.NEWEST, self.name, scope).fetchone()
                    return bool(newest == (token.fence, token.run_id))
            except RunError as error:
                if not error.transient or time.monotonic() > until:
                    raise
                time.sleep(LOOKUP_PAUSE)


def task_key(task: Task) -> tuple[str, ...]:
    """The columns that a new table is keyed by."""
    return task.write.on if isinstance(task.write, Merge) else task.unique_key


def new_type(column: str, spark: str) -> str:
    """The type of a new column, or what to do about a type that Postgres does not have."""
    kind = postgres_type(spark)
    if kind is None or len(column.encode()) > LONGEST_NAME:
        raise ResultMisshapen(
            f"{column} ({spark}) cannot be a column of a Postgres table",
            facts={"expected": f"a name of at most {LONGEST_NAME} bytes and a plain type"},
            next_step="rename or cast the column in the task",
        )
    return kind


def check_count(staged_rows: int, copied_rows: int) -> None:
    """Refuse to go on with other rows than the job's result speaks of."""
    if staged_rows != copied_rows:
        raise Transient(
            f"{copied_rows:,} rows were copied and {staged_rows:,} are there: the server may have "
            "been restarted; nothing was committed",
            next_step="run the same command again",
        )


def tied(shape: sql.Shape, ties: list[tuple[Any, ...]]) -> GateFailed:
    """The error for keys of one version with different content."""
    by = f" and {shape.version}" if shape.version else ""
    return GateFailed(
        f"rows of one key{by} differ, and no rule says which is right; nothing was written",
        gate="merge",
        expected=f"one row for each {', '.join(shape.key)}{by}",
        found=f"{len(ties)}{' or more' if len(ties) == SAMPLES else ''} such keys",
        samples=[
            ", ".join(f"{name}={value}" for name, value in zip(shape.key, tie, strict=False))
            for tie in ties
        ],
        next_step="make the version a total order (add a sequence), or correct the source",
    )
