"""The SQL that Postgres is given. Pure: tested without a database."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import timedelta, timezone
from itertools import pairwise
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from setpoint.engine.commit_mark import WHOLE
from setpoint.engine.spark.postgres.translation import STAGING
from setpoint.model.scope import ColumnKind, check_boundable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from setpoint.model.window import Window

SIZED_TEXT = re.compile(r"character(?: varying)?\(\d+\)\Z")
ATTEMPT = "attempt"
COMMITS = "setpoint.commits"
CREATE_COMMITS = f"""
CREATE SCHEMA IF NOT EXISTS setpoint;
CREATE TABLE IF NOT EXISTS {COMMITS} (
  target text NOT NULL, scope text NOT NULL, fence bigint NOT NULL, task text NOT NULL,
  run_id text NOT NULL, rows bigint NOT NULL, replaced bigint, transaction text NOT NULL,
  committed_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (target, scope, fence));
CREATE INDEX IF NOT EXISTS commits_run_id ON {COMMITS} (run_id);
ALTER TABLE {COMMITS} ADD COLUMN IF NOT EXISTS inputs text
"""
NEWEST = f"SELECT fence, run_id FROM {COMMITS} WHERE target = $1 AND scope = $2 ORDER BY fence DESC LIMIT 1"  # noqa: E501, S608
RECORD = f"""
INSERT INTO {COMMITS} (target, scope, fence, task, run_id, rows, replaced, inputs, transaction)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, pg_current_xact_id()::text)
ON CONFLICT (target, scope, fence) DO UPDATE
SET run_id = excluded.run_id, rows = excluded.rows, replaced = excluded.replaced,
    inputs = excluded.inputs, transaction = excluded.transaction, committed_at = now()
RETURNING transaction
"""  # noqa: S608 — the table's name is a constant
SINCE = f"SELECT run_id FROM {COMMITS} WHERE target = $1 AND scope = $2 AND NOT pg_visible_in_snapshot(transaction::xid8, $3::pg_snapshot) LIMIT 1"  # noqa: E501, S608
FOUND = f"SELECT rows, replaced, transaction, inputs FROM {COMMITS} WHERE target = $1 AND run_id = $2 ORDER BY fence DESC LIMIT 1"  # noqa: E501, S608
HIGHEST = f"SELECT max(fence) FROM {COMMITS} WHERE target = $1"  # noqa: S608
COLUMNS = """
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
UNIQUE_KEYS = """
SELECT array_agg(a.attname::text ORDER BY a.attname), i.indisprimary
FROM pg_index i CROSS JOIN unnest(i.indkey::int[]) WITH ORDINALITY AS k(number, place)
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
WHERE i.indrelid = to_regclass($1) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
  AND i.indexprs IS NULL AND i.indimmediate AND k.place <= i.indnkeyatts
GROUP BY i.indexrelid, i.indisprimary
"""
PREPARED = f"""
SELECT to_regnamespace($1) IS NOT NULL AND EXISTS (SELECT FROM pg_attribute
WHERE attrelid = to_regclass('{COMMITS}') AND attname = 'inputs')
"""  # noqa: S608 — the table's name is a constant
PLAIN_TABLE = """
SELECT relkind IN ('r', 'p') AND NOT relrowsecurity AND NOT relhasrules
FROM pg_class WHERE oid = to_regclass($1)
"""
# Over ADBC too, which runs one statement at a time. A client that stops in its transaction is cut
# off, and whoever waits for its lock goes on.
LIMITS = """
SELECT set_config('idle_in_transaction_session_timeout', '60s', true),
       set_config('lock_timeout', '90s', true)
"""
STALLED_SECONDS = 60
STAGED = "SELECT tablename FROM pg_tables WHERE schemaname = $1"


def identifier(name: str) -> str:
    """The name as Postgres reads it and nothing else."""
    return '"' + name.replace('"', '""') + '"'


def lock_number(*parts: str) -> int:
    """The number of an advisory lock: 64 bits of a hash, as Postgres counts them."""
    text = "\x1f".join(("setpoint", *parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


def lock_sql(target: str, scope: str) -> str:
    """Let one transaction a scope through; a whole table waits for all of its windows."""
    if scope == WHOLE:
        return f"SELECT pg_advisory_xact_lock({lock_number(target)})::text"
    shared = f"pg_advisory_xact_lock_shared({lock_number(target)})::text"
    return f"SELECT {shared}, pg_advisory_xact_lock({lock_number(target, scope)})::text"


def stalled_sql(target: str, scope: str, seconds: int) -> str:
    """Clients of Setpoint that stand in the way of a scope, in the middle of a long copy.

    No timeout of Postgres's reaches a backend that waits for the rows of a COPY. How many bytes
    have come tells one that has stopped from one that is slow.
    """
    table, own = lock_number(target), lock_number(target, scope)
    mode = "" if scope == WHOLE else " AND l.mode = 'ExclusiveLock'"
    number = "((l.classid::bigint << 32) | l.objid::bigint)"
    return (
        "SELECT p.pid, p.bytes_processed FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid "  # noqa: S608
        "JOIN pg_stat_progress_copy p ON p.pid = l.pid "
        "WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 "
        f"AND ({number} = {own} OR ({number} = {table}{mode})) AND a.usename = current_user "
        "AND a.state = 'active' AND a.wait_event = 'ClientRead' "
        f"AND a.query_start < clock_timestamp() - interval '{seconds} seconds'"
    )


def bounds_sql(column: str, kind: ColumnKind, window: Window) -> str:
    """The filter of the window's rows, in Postgres's literals."""
    return ranges_sql(column, kind, window, 1)[0]


def ranges_sql(column: str, kind: ColumnKind, window: Window, count: int) -> list[str]:
    """The window cut into ranges of time that can be read side by side."""
    check_boundable(column, kind, window)
    start, end = (_wall(moment, kind, window.zone) for moment in (window.start, window.end))
    if kind in (ColumnKind.DATE, ColumnKind.STRING):
        count = min(count, max(1, (end - start) // timedelta(days=1)))
    edges = [start + (end - start) * part / count for part in range(count)] + [end]
    texts = [_literal(edge, kind) for edge in edges]
    texts = list(dict.fromkeys(texts))
    name = identifier(column)
    return [f"{name} >= {lower} AND {name} < {upper}" for lower, upper in pairwise(texts)]


def key_ranges_sql(column: str, least: int, most: int, count: int) -> list[str]:
    """All rows, cut into ranges of a whole-number key; the outer ranges have no end."""
    count = max(1, min(count, most - least + 1))
    name = identifier(column)
    edges = [least + (most - least + 1) * part // count for part in range(1, count)]
    if not edges:
        return ["TRUE"]
    inner = [f"{name} >= {low} AND {name} < {high}" for low, high in pairwise(edges)]
    return [f"{name} < {edges[0]}", *inner, f"{name} >= {edges[-1]}"]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The table that is written: its columns in the order of the result, and its key."""

    table: str
    """Quoted, with its schema."""
    columns: Mapping[str, str]
    """Each column's name in the table, and its type there."""
    key: tuple[str, ...] = ()
    version: str | None = None
    order: tuple[str, ...] = ()
    """The columns that rows are inserted in the order of: an index grows at one end only."""

    @property
    def names(self) -> str:
        """The columns, quoted."""
        return ", ".join(map(identifier, self.columns))

    @property
    def staged(self) -> str:
        """The staged columns as values of the table's types, named as in the table."""
        return ", ".join(
            f"CAST(c{number} AS {cast_type(kind)}) AS {identifier(name)}"
            for number, (name, kind) in enumerate(self.columns.items())
        )


def cast_type(kind: str) -> str:
    """What a text is cast to: a cast to `varchar(3)` would cut it, an insert refuses it."""
    return "text" if SIZED_TEXT.match(kind) else kind


def create_table_sql(
    table: str, columns: Mapping[str, str], key: Sequence[str], by: str | None
) -> list[str]:
    """A new table: the key as its primary key, an index where windows are told apart."""
    listed = [f"{identifier(name)} {kind}" for name, kind in columns.items()]
    if key:
        listed.append(f"PRIMARY KEY ({', '.join(map(identifier, key))})")
    statements = [f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(listed)})"]
    if by is not None and (not key or key[0] != by):
        statements.append(f"CREATE INDEX ON {table} ({identifier(by)})")
    return statements


def staging_prefix(target: str, scope: str) -> str:
    """How the staging tables of a scope begin, so that orphans of it are found."""
    return f"s_{hashlib.sha256(f'{target} {scope}'.encode()).hexdigest()[:24]}_"


def staging_table(name: str) -> str:
    """A staging table, quoted, with its schema."""
    return f"{STAGING}.{identifier(name)}"


def create_staging_sql(name: str, types: Sequence[str]) -> str:
    """A staging table; each row takes the attempt that copied it from the session."""
    columns = [f"c{number} {kind}" for number, kind in enumerate(types)]
    attempt = f"{ATTEMPT} text NOT NULL DEFAULT current_setting('setpoint.attempt')"
    return f"CREATE UNLOGGED TABLE {staging_table(name)} ({', '.join([*columns, attempt])})"


def delete_sql(shape: Shape, bounds: str | None) -> str:
    """Remove what stands in the scope. Not TRUNCATE: a reader would see the table empty."""
    return f"DELETE FROM {shape.table}" + (f" WHERE {bounds}" if bounds else "")  # noqa: S608


def insert_sql(shape: Shape, staging: str) -> str:
    """Put the staged rows of the named attempts into the table."""
    places = [f"c{number}" for number, name in enumerate(shape.columns) if name in shape.order]
    order = f" ORDER BY {', '.join(places)}" if places else ""
    return (
        f"INSERT INTO {shape.table} ({shape.names}) SELECT {shape.staged} "  # noqa: S608
        f"FROM {staging} WHERE {ATTEMPT} = ANY($1){order}"
    )


def reduce_sql(shape: Shape, staging: str, reduced: str) -> str:
    """The staged rows, repeats dropped: for each key those of its newest version.

    More than one row of a key in the result is a tie with different content.
    """
    key = ", ".join(map(identifier, shape.key))
    rows = f"SELECT DISTINCT {shape.staged} FROM {staging} WHERE {ATTEMPT} = ANY($1)"  # noqa: S608
    if shape.version is None:
        return f"CREATE TEMPORARY TABLE {reduced} ON COMMIT DROP AS {rows}"
    order = f"rank() OVER (PARTITION BY {key} ORDER BY {identifier(shape.version)} DESC)"
    return (
        f"CREATE TEMPORARY TABLE {reduced} ON COMMIT DROP AS SELECT {shape.names} FROM "  # noqa: S608
        f"(SELECT *, {order} AS newest FROM ({rows}) AS staged) AS ranked WHERE newest = 1"
    )


def ties_sql(shape: Shape, reduced: str, limit: int) -> str:
    """Keys that the reduced rows hold more than once."""
    key = ", ".join(map(identifier, shape.key))
    return f"SELECT {key}, count(*) FROM {reduced} GROUP BY {key} HAVING count(*) > 1 ORDER BY {key} LIMIT {limit}"  # noqa: E501, S608


def table_ties_sql(shape: Shape, reduced: str, limit: int) -> str | None:
    """Keys whose version the table holds already, with other content."""
    if shape.version is None:
        return None
    same = " AND ".join(f"t.{identifier(c)} = s.{identifier(c)}" for c in shape.key)
    version = identifier(shape.version)
    rest = [identifier(c) for c in shape.columns if c not in (*shape.key, shape.version)]
    differs = " OR ".join(f"t.{c} IS DISTINCT FROM s.{c}" for c in rest) or "FALSE"
    key = ", ".join(f"s.{identifier(c)}" for c in shape.key)
    return (
        f"SELECT {key}, 2 FROM {reduced} AS s JOIN {shape.table} AS t ON {same} "  # noqa: S608
        f"WHERE t.{version} = s.{version} AND ({differs}) ORDER BY {key} LIMIT {limit}"
    )


def merge_sql(shape: Shape, reduced: str) -> str:
    """Insert new keys; update a known one where the incoming version is newer."""
    key = ", ".join(map(identifier, shape.key))
    others = [identifier(c) for c in shape.columns if c not in shape.key]
    sets = ", ".join(f"{c} = excluded.{c}" for c in others)
    action = f"DO UPDATE SET {sets}" if sets else "DO NOTHING"
    guard = ""
    if sets and shape.version is not None:
        version = identifier(shape.version)
        guard = f" WHERE excluded.{version} > target.{version}"
    # In the order of the key, so that two merges never wait for each other in a circle.
    return (
        f"INSERT INTO {shape.table} AS target ({shape.names}) "  # noqa: S608
        f"SELECT {shape.names} FROM {reduced} ORDER BY {key} ON CONFLICT ({key}) {action}{guard}"
    )


def _wall(moment: datetime, kind: ColumnKind, zone: str) -> datetime:
    """The moment as the column keeps it: an instant, or what a clock on the wall shows."""
    if kind is ColumnKind.TIMESTAMP:
        return moment.astimezone(timezone.utc)
    # Without the zone, so that cutting a day of 25 hours gives ranges in order.
    return moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def _literal(edge: datetime, kind: ColumnKind) -> str:
    if kind is ColumnKind.DATE:
        return f"DATE '{edge.date().isoformat()}'"
    if kind is ColumnKind.STRING:
        return f"'{edge.date().isoformat()}'"
    word = "TIMESTAMPTZ" if kind is ColumnKind.TIMESTAMP else "TIMESTAMP"
    return f"{word} '{edge.isoformat(sep=' ')}'"
