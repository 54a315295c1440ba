"""A batch of events out of Spark, worked on once: repeats are dropped in the work's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from setpoint.effects.once import ProcessedEvents

FRESH = "fresh_events"


def process_once(
    events: Any,
    store: ProcessedEvents,
    work: Callable[[Any], Any],
    *,
    key: str | Sequence[str],
    limit: int = 1_000_000,
) -> int:
    """Work on those events of a DataFrame that were never worked on; how many there were.

    In one transaction of the store's database the batch is laid into the temporary table
    `fresh_events (key, event)`, the event as JSON; repeats, within the batch or of an earlier one,
    are taken out and the keys of the rest noted; then `work(cursor)` reads `fresh_events` and
    writes what it will. Fits `foreachBatch` of a stream, which may hand over a batch twice.

    Args:
        events: The batch.
        store: `ProcessedEvents` on the connection of the work.
        work: What to do with the events.
        key: The column that holds the event's key, or the columns that make it.
        limit: The most events that a batch may have: they pass through this process.
    """
    from setpoint.engine.spark.rows import keyed_rows

    columns = [key] if isinstance(key, str) else list(key)
    rows = keyed_rows(events, columns, limit=limit + 1)
    if len(rows) > limit:
        raise UsageError(
            f"a batch of more than {limit:,} events",
            next_step="take smaller batches (maxOffsetsPerTrigger, maxFilesPerTrigger)",
        )
    missing = sum(1 for each, _ in rows if each is None)
    if missing:
        raise UsageError(
            f"{missing:,} events have no {', '.join(columns)}: they cannot be told from repeats",
            next_step="leave them out, or name columns that every event has",
        )
    # A repeat within the batch: the last one wins in a dictionary, and they are the same event.
    unique = dict(rows)
    with store.transaction() as cursor:
        fresh = _laid_out(cursor, store, unique)
        if fresh:
            work(cursor)
        cursor.execute(f"DROP TABLE {FRESH}")
    return fresh


def _laid_out(cursor: Any, store: ProcessedEvents, events: dict[Any, str]) -> int:
    cursor.execute(f"CREATE TEMPORARY TABLE {FRESH} (key TEXT NOT NULL PRIMARY KEY, event TEXT)")
    if store.sqlite:
        cursor.executemany(f"INSERT INTO {FRESH} VALUES (?, ?)", list(events.items()))  # noqa: S608
    else:
        with cursor.copy(f"COPY {FRESH} FROM STDIN") as copy:
            for row in events.items():
                copy.write_row(row)
        cursor.execute(f"ALTER TABLE {FRESH} ALTER COLUMN event TYPE jsonb USING event::jsonb")
    # Keys that another transaction is just taking are waited for, one by one, in one order.
    cursor.execute(f"SELECT key FROM {FRESH} ORDER BY key")  # noqa: S608
    keys = [key for (key,) in cursor.fetchall()]
    repeats = [(key,) for key in keys if not store.is_new(cursor, key)]
    if repeats:
        cursor.executemany(store.sql(f"DELETE FROM {FRESH} WHERE key = ?"), repeats)  # noqa: S608
    return len(keys) - len(repeats)
