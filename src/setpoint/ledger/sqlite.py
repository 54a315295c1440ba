"""The ledger in a SQLite file: the default, for one machine and as many processes as it has."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from setpoint.errors import LedgerError
from setpoint.ledger.backfill import BackfillRecords
from setpoint.ledger.connection import Connections, explained
from setpoint.ledger.instant import from_text, to_text, utc_now
from setpoint.ledger.protocol import DEFAULT_LIMIT
from setpoint.ledger.record import Attempt, Run, Scope, Standing, TaskSummary
from setpoint.ledger.schema import WHOLE_TABLE
from setpoint.ledger.search import SHOWN, only_match
from setpoint.ledger.writer import StoredWriter

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

    from typing_extensions import Self

    from setpoint.ledger.record import RunState
    from setpoint.ledger.transition import Change

_RUN = tuple(each.name for each in fields(Run))
_ATTEMPT = tuple(each.name for each in fields(Attempt))
_NEWEST_WINDOW = "ORDER BY window_start DESC, window_end DESC, task"
_NEWEST_FENCE = "ORDER BY fence DESC"
_AFTER_ANY_TEXT = "\U0010ffff"


def _upsert(table: str, columns: tuple[str, ...], key: str) -> str:
    named = ", ".join(f":{column}" for column in columns)
    changed = ", ".join(f"{column} = excluded.{column}" for column in columns)
    more, one = (", latest", ", 1") if table == "run" else ("", "")
    return (
        f"INSERT INTO {table} ({', '.join(columns)}{more}) VALUES ({named}{one})"  # noqa: S608
        f" ON CONFLICT ({key}) DO UPDATE SET {changed}"
    )


_PUT_RUN = _upsert("run", _RUN, "run_id")
_PUT_ATTEMPT = _upsert("attempt", _ATTEMPT, "run_id, number")
_SELECT_RUN = f"SELECT {', '.join(_RUN)} FROM run"  # noqa: S608
_SELECT_ATTEMPT = f"SELECT {', '.join(_ATTEMPT)} FROM attempt"  # noqa: S608


class SqliteLedger(StoredWriter):
    """Keeps the records in one file, in WAL mode: readers never wait, writers take turns."""

    def __init__(
        self, path: Path, *, readonly: bool = False, now: Callable[[], datetime] = utc_now
    ) -> None:
        self._readonly = readonly
        self._now = now
        self._connections = Connections(path, readonly=readonly)
        # A file that cannot serve is told of here, not in the middle of a run.
        with explained(path):
            self._connections.here()

    @property
    def path(self) -> Path:
        """The ledger's file."""
        return self._connections.path

    def latest(
        self,
        task: str | None = None,
        *,
        state: RunState | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> list[Run]:
        """The latest run of each task and window: whole tables first, then newest window first."""
        where, values = _conditions(task, state, start, end)
        return self._runs(["latest = 1", *where], values, _NEWEST_WINDOW, limit)

    def runs(
        self,
        task: str | None = None,
        *,
        state: RunState | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> list[Run]:
        """Every run, the one with the highest fence first."""
        where, values = _conditions(task, state, start, end)
        return self._runs(where, values, _NEWEST_FENCE, limit)

    def run(self, run_id: str) -> Run:
        """The run of this id, or of the only id that begins so."""
        exact = self._runs(["run_id = ?"], [run_id], "", 1)
        if exact:
            return exact[0]
        begun = self._runs(
            ["run_id >= ?", "run_id < ?"],
            [run_id, run_id + _AFTER_ANY_TEXT],
            "ORDER BY run_id",
            SHOWN + 1,
        )
        return only_match(run_id, begun)

    def attempts(self, run_id: str) -> list[Attempt]:
        """The tries of a run, in order; none for a run that is not known."""
        with explained(self.path):
            return _Rows(self._connections.here()).attempts_of(run_id)

    def scope(
        self, task: str, window_start: datetime | None, window_end: datetime | None
    ) -> Run | None:
        """The latest run of exactly this task and window."""
        scope = Scope(task=task, window_start=window_start, window_end=window_end)
        with explained(self.path):
            return _Rows(self._connections.here()).latest_of(scope)

    def summary(self) -> list[TaskSummary]:
        """Where each task stands, by name."""
        with explained(self.path):
            connection = self._connections.here()
            # One transaction, so that the counts and what goes with them are of one moment.
            connection.execute("BEGIN")
            try:
                return _summaries(connection)
            finally:
                connection.execute("COMMIT")

    def standings(self, task: str, start: datetime, end: datetime) -> list[Standing]:
        """How the windows of a task stand that overlap `[start, end)`, oldest first; in brief."""
        where, values = _conditions(task, None, start, end)
        found = self.query(
            "SELECT window_start, window_end, state, fingerprint, fence FROM run"  # noqa: S608
            f" WHERE latest = 1 AND {' AND '.join(where)} ORDER BY window_start",
            values,
        )
        return list(map(Standing._make, found))

    @property
    def backfills(self) -> BackfillRecords:
        """What is known of backfills."""
        return BackfillRecords(self, now=self._now)

    def query(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows of a SELECT."""
        with explained(self.path):
            return self._connections.here().execute(sql, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[Callable[[str, Sequence[object]], list[tuple[Any, ...]]]]:
        """A write transaction for records that have a file of their own."""
        if self._readonly:
            raise LedgerError("The ledger was opened for reading only.")
        with explained(self.path), self._connections.transaction() as connection:
            yield lambda sql, values: connection.execute(sql, values).fetchall()

    def close(self) -> None:
        """Let go of the ledger's file."""
        with explained(self.path):
            self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[_Rows]:
        if self._readonly:
            raise LedgerError("The ledger was opened for reading only.")
        with explained(self.path), self._connections.transaction() as connection:
            yield _Rows(connection)

    def _runs(
        self, where: list[str], values: list[object], order: str, limit: int | None
    ) -> list[Run]:
        chosen = f" WHERE {' AND '.join(where)}" if where else ""
        query = f"{_SELECT_RUN}{chosen} {order} LIMIT ?"
        with explained(self.path):
            found = self._connections.here().execute(
                query, [*values, -1 if limit is None else limit]
            )
            return [_run(row) for row in found]


class _Rows:
    """The tables as one transaction sees them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def next_fence(self) -> int:
        self._connection.execute("UPDATE fence SET last = last + 1")
        (fence,) = self._connection.execute("SELECT last FROM fence").fetchone()
        return int(fence)

    def find(self, run_id: str) -> Run | None:
        query = f"{_SELECT_RUN} WHERE run_id = ?"
        row = self._connection.execute(query, [run_id]).fetchone()
        return _run(row) if row else None

    def latest_of(self, scope: Scope) -> Run | None:
        query = (
            f"{_SELECT_RUN} WHERE task = ? AND window_start = ? AND window_end = ? AND latest = 1"
        )
        edges = (_edge(scope.window_start), _edge(scope.window_end))
        row = self._connection.execute(query, [scope.task, *edges]).fetchone()
        return _run(row) if row else None

    def attempts_of(self, run_id: str) -> list[Attempt]:
        query = f"{_SELECT_ATTEMPT} WHERE run_id = ? ORDER BY number"
        return [_attempt(row) for row in self._connection.execute(query, [run_id])]

    def put(self, change: Change) -> None:
        if change.supersedes:
            self._connection.execute(
                "UPDATE run SET latest = 0 WHERE run_id = ?", [change.supersedes]
            )
        for run in change.runs:
            self._connection.execute(_PUT_RUN, _run_row(run))
        for attempt in change.attempts:
            self._connection.execute(_PUT_ATTEMPT, _attempt_row(attempt))


def _conditions(
    task: str | None, state: RunState | None, start: datetime | None, end: datetime | None
) -> tuple[list[str], list[object]]:
    where: list[str] = []
    values: list[object] = []
    if task is not None:
        where.append("task = ?")
        values.append(task)
    if state is not None:
        where.append("state = ?")
        values.append(state)
    if start is not None or end is not None:
        where.append("window_start <> ?")
        values.append(WHOLE_TABLE)
    if start is not None:
        where.append("window_end > ?")
        values.append(to_text(start))
    if end is not None:
        where.append("window_start < ?")
        values.append(to_text(end))
    return where, values


def _summaries(connection: sqlite3.Connection) -> list[TaskSummary]:
    counted = connection.execute(
        "SELECT task, state, count(*), coalesce(sum(rows), 0), max(fence) FROM run"
        " WHERE latest = 1 GROUP BY task, state"
    )
    by_task: dict[str, dict[str, tuple[int, int, int]]] = {}
    for task, state, windows, rows, fence in counted:
        by_task.setdefault(task, {})[state] = (windows, rows, fence)
    nothing = (0, 0, 0)
    summaries = []
    for task, states in sorted(by_task.items()):
        succeeded, rows, success = states.get("succeeded", nothing)
        failed, _, failure = states.get("failed", nothing)
        start, end = connection.execute(
            "SELECT window_start, window_end FROM run WHERE task = ? AND latest = 1"  # noqa: S608
            f" {_NEWEST_WINDOW} LIMIT 1",
            [task],
        ).fetchone()
        summaries.append(
            TaskSummary(
                task=task,
                running=states.get("running", nothing)[0],
                succeeded=succeeded,
                failed=failed,
                rows=rows,
                last_window_start=_moment(start),
                last_window_end=_moment(end),
                last_success=_moment(_of_fence(connection, "finished_at", success)),
                last_error=_of_fence(connection, "error", failure),
                last_error_kind=_of_fence(connection, "error_kind", failure),
            )
        )
    return summaries


def _of_fence(connection: sqlite3.Connection, column: str, fence: int) -> str | None:
    query = f"SELECT {column} FROM run WHERE fence = ?"  # noqa: S608
    found = connection.execute(query, [fence]).fetchone()
    return cast("str | None", found[0]) if found else None


def _edge(moment: datetime | None) -> str:
    return WHOLE_TABLE if moment is None else to_text(moment)


def _moment(text: str | None) -> datetime | None:
    return None if text is None or text == WHOLE_TABLE else from_text(text)


def _run_row(run: Run) -> dict[str, object]:
    return _texts(vars(run)) | {
        "window_start": _edge(run.window_start),
        "window_end": _edge(run.window_end),
        "detail": json.dumps(run.detail, sort_keys=True, allow_nan=False),
    }


def _attempt_row(attempt: Attempt) -> dict[str, object]:
    return _texts(vars(attempt))


def _texts(record: dict[str, object]) -> dict[str, object]:
    return {
        name: to_text(value) if isinstance(value, datetime) else value
        for name, value in record.items()
    }


def _run(row: tuple[Any, ...]) -> Run:
    named = dict(zip(_RUN, row, strict=True))
    for moment in ("window_start", "window_end", "started_at", "finished_at"):
        named[moment] = _moment(named[moment])
    named["detail"] = json.loads(named["detail"])
    return Run(**named)


def _attempt(row: tuple[Any, ...]) -> Attempt:
    named = dict(zip(_ATTEMPT, row, strict=True))
    for moment in ("started_at", "finished_at"):
        named[moment] = _moment(named[moment])
    return Attempt(**named)
