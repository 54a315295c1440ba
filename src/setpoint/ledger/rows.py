"""The ledger's tables in SQL that SQLite and Postgres both take, and records as rows of them."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, cast

from setpoint.ledger.instant import from_text, to_text
from setpoint.ledger.lease import Lease
from setpoint.ledger.record import Attempt, Run, TaskSummary
from setpoint.ledger.schema import WHOLE_TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from setpoint.ledger.record import RunState, Scope
    from setpoint.ledger.transition import Change

_RUN = tuple(each.name for each in fields(Run))
_ATTEMPT = tuple(each.name for each in fields(Attempt))
_LEASE = tuple(each.name for each in fields(Lease))
NEWEST_WINDOW = "ORDER BY window_start DESC, window_end DESC, task"
NEWEST_FENCE = "ORDER BY fence DESC"


class Found(Protocol):
    """What a query gives."""

    def fetchone(self) -> Any:
        """The next row, or None."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """The rows."""
        ...


class Connection(Protocol):
    """A connection that takes `?` and `:name` for values."""

    def execute(self, sql: str, values: Sequence[object] | Mapping[str, object] = ..., /) -> Found:
        """Carry a statement out."""
        ...


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
_PUT_LEASE = _upsert("lease", _LEASE, "fence")
SELECT_RUN = f"SELECT {', '.join(_RUN)} FROM run"  # noqa: S608
_SELECT_ATTEMPT = f"SELECT {', '.join(_ATTEMPT)} FROM attempt"  # noqa: S608


class Rows:
    """The tables as one transaction sees them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def connection(self) -> Connection:
        """The transaction's connection, for other tables of the same ledger."""
        return self._connection

    def next_fence(self, at_least: int = 0) -> int:
        """A number higher than any given before, and than `at_least`."""
        (last,) = self._connection.execute("SELECT last FROM fence").fetchone()
        fence = max(int(last), at_least) + 1
        self._connection.execute("UPDATE fence SET last = ?", [fence])
        return fence

    def find(self, run_id: str) -> Run | None:
        """The run of exactly this id."""
        query = f"{SELECT_RUN} WHERE run_id = ?"
        row = self._connection.execute(query, [run_id]).fetchone()
        return run_of(row) if row else None

    def latest_of(self, scope: Scope) -> Run | None:
        """The latest run of this task and window."""
        query = (
            f"{SELECT_RUN} WHERE task = ? AND window_start = ? AND window_end = ? AND latest = 1"
        )
        edges = (_edge(scope.window_start), _edge(scope.window_end))
        row = self._connection.execute(query, [scope.task, *edges]).fetchone()
        return run_of(row) if row else None

    def attempts_of(self, run_id: str) -> list[Attempt]:
        """The run's attempts, in order."""
        query = f"{_SELECT_ATTEMPT} WHERE run_id = ? ORDER BY number"
        return [_attempt(row) for row in self._connection.execute(query, [run_id])]

    def put(self, change: Change) -> None:
        """Keep the change."""
        if change.supersedes:
            self._connection.execute(
                "UPDATE run SET latest = 0 WHERE run_id = ?", [change.supersedes]
            )
        for run in change.runs:
            self._connection.execute(_PUT_RUN, _run_row(run))
        for attempt in change.attempts:
            self._connection.execute(_PUT_ATTEMPT, _texts(vars(attempt)))

    def leases(self) -> list[Lease]:
        """Every lease that is held, the oldest first."""
        query = f"SELECT {', '.join(_LEASE)} FROM lease ORDER BY fence"  # noqa: S608
        return [_lease(row) for row in self._connection.execute(query)]

    def put_lease(self, lease: Lease) -> None:
        """Keep the lease."""
        self._connection.execute(_PUT_LEASE, _texts(vars(lease)) | _edges(lease))

    def drop_lease(self, fence: int) -> None:
        """Forget the lease."""
        self._connection.execute("DELETE FROM lease WHERE fence = ?", [fence])

    def runs_after(self, fence: int, task: str) -> list[Run]:
        """The task's runs with a higher fence."""
        query = f"{SELECT_RUN} WHERE task = ? AND fence > ?"
        return [run_of(row) for row in self._connection.execute(query, [task, fence])]


def conditions(
    task: str | None, state: RunState | None, start: datetime | None, end: datetime | None
) -> tuple[list[str], list[object]]:
    """What a run must be to be among the answers, and the values for it."""
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


def summaries(connection: Connection) -> list[TaskSummary]:
    """Where each task stands, by name."""
    counted = connection.execute(
        "SELECT task, state, count(*), coalesce(sum(rows), 0), max(fence) FROM run"
        " WHERE latest = 1 GROUP BY task, state"
    )
    by_task: dict[str, dict[str, tuple[int, int, int]]] = {}
    for task, state, windows, rows, fence in counted:
        # Postgres adds whole numbers up to a decimal.
        by_task.setdefault(task, {})[state] = (windows, int(rows), fence)
    nothing = (0, 0, 0)
    summaries = []
    for task, states in sorted(by_task.items()):
        succeeded, rows, success = states.get("succeeded", nothing)
        failed, _, failure = states.get("failed", nothing)
        start, end = connection.execute(
            "SELECT window_start, window_end FROM run WHERE task = ? AND latest = 1"  # noqa: S608
            f" {NEWEST_WINDOW} LIMIT 1",
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


def _of_fence(connection: Connection, column: str, fence: int) -> str | None:
    query = f"SELECT {column} FROM run WHERE fence = ?"  # noqa: S608
    found = connection.execute(query, [fence]).fetchone()
    return cast("str | None", found[0]) if found else None


def _edge(moment: datetime | None) -> str:
    return WHOLE_TABLE if moment is None else to_text(moment)


def _moment(text: str | None) -> datetime | None:
    return None if text is None or text == WHOLE_TABLE else from_text(text)


def _edges(record: Run | Lease) -> dict[str, object]:
    return {
        "window_start": _edge(record.window_start),
        "window_end": _edge(record.window_end),
    }


def _run_row(run: Run) -> dict[str, object]:
    detail = json.dumps(run.detail, sort_keys=True, allow_nan=False)
    return _texts(vars(run)) | _edges(run) | {"detail": detail}


def _texts(record: dict[str, object]) -> dict[str, object]:
    return {
        name: to_text(value) if isinstance(value, datetime) else value
        for name, value in record.items()
    }


def run_of(row: tuple[Any, ...]) -> Run:
    """The run that a row holds."""
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


def _lease(row: tuple[Any, ...]) -> Lease:
    named = dict(zip(_LEASE, row, strict=True))
    for moment in ("window_start", "window_end", "taken_at"):
        named[moment] = _moment(named[moment])
    return Lease(**named)
