"""What the ledger remembers of backfills: who asked for what, its jobs, and what was proven."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from setpoint.errors import UsageError
from setpoint.ledger.holder import is_gone
from setpoint.ledger.instant import from_text, to_text
from setpoint.ledger.lease import Holder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from setpoint.ledger.record import Detail
    from setpoint.ledger.statements import Execute, Statements

BackfillState = Literal["running", "paused", "cancelled", "interrupted", "succeeded", "failed"]
Wish = Literal["run", "pause", "cancel"]
JobState = Literal["running", "succeeded", "failed", "adopted", "lost"]
OPEN: tuple[BackfillState, ...] = ("running", "paused", "interrupted")
"""States from which a backfill goes on."""
SILENT_AFTER = timedelta(seconds=60)
"""A backfill whose process has not been heard of for so long is taken for dead."""

SCRIPT = """
CREATE TABLE backfill (
    backfill_id  TEXT NOT NULL PRIMARY KEY,
    request_key  TEXT NOT NULL,
    request      TEXT NOT NULL,
    state        TEXT NOT NULL,
    wish         TEXT NOT NULL,
    since        INTEGER NOT NULL,
    windows      INTEGER NOT NULL,
    requested_by TEXT,
    reason       TEXT,
    tags         TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    detail       TEXT NOT NULL,
    started_at   TEXT NOT NULL,
    seen_at      TEXT NOT NULL,
    finished_at  TEXT,
    pid          INTEGER NOT NULL,
    host         TEXT NOT NULL,
    machine      TEXT NOT NULL,
    born         TEXT NOT NULL
);
CREATE INDEX backfill_state ON backfill (state);
CREATE TABLE backfill_job (
    job_id        TEXT NOT NULL PRIMARY KEY,
    backfill_id   TEXT NOT NULL REFERENCES backfill (backfill_id),
    task          TEXT NOT NULL,
    window_start  TEXT,
    window_end    TEXT,
    windows       INTEGER NOT NULL,
    fence         INTEGER NOT NULL,
    state         TEXT NOT NULL,
    rows_written  INTEGER,
    bytes_read    INTEGER,
    bytes_written INTEGER,
    seconds       REAL,
    error         TEXT,
    started_at    TEXT NOT NULL,
    finished_at   TEXT
);
CREATE INDEX backfill_job_of ON backfill_job (backfill_id, fence);
CREATE INDEX backfill_job_task ON backfill_job (task, fence);
CREATE TABLE separability (
    task        TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    separable   INTEGER NOT NULL,
    evidence    TEXT NOT NULL,
    found_at    TEXT NOT NULL,
    PRIMARY KEY (task, fingerprint)
);
CREATE TABLE pool_slot (
    pool    TEXT NOT NULL,
    slot    INTEGER NOT NULL,
    holder  TEXT NOT NULL,
    seen_at TEXT NOT NULL,
    PRIMARY KEY (pool, slot)
);
"""


@dataclass(frozen=True, kw_only=True)
class TaskRange:
    """The stretch of time that a backfill sets of one task; no edges for a whole table."""

    task: str
    start: datetime | None
    end: datetime | None

    def overlaps(self, other: TaskRange) -> bool:
        """Whether both would set some of the same rows."""
        if self.task != other.task:
            return False
        if self.start is None or self.end is None or other.start is None or other.end is None:
            return True
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, kw_only=True)
class Backfill:
    """One request to set a range again, from its start to its end."""

    backfill_id: str
    request_key: str
    request: Detail
    """The request itself, so that `resume` needs nothing but the id."""
    state: BackfillState
    wish: Wish = "run"
    """What a person wants of the process that works on it."""
    since: int
    """The last fence given out before it began: what succeeded with a later one is done."""
    windows: int
    requested_by: str | None = None
    reason: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    scopes: tuple[TaskRange, ...] = ()
    detail: Detail = field(default_factory=dict)
    started_at: datetime
    seen_at: datetime
    finished_at: datetime | None = None
    pid: int
    host: str
    machine: str = ""
    born: str = ""

    def alive(self, now: datetime) -> bool:
        """Whether a process works on it: it says so every few seconds, unless it is gone."""
        holder = Holder(pid=self.pid, host=self.host, machine=self.machine, born=self.born)
        heard = now - self.seen_at < SILENT_AFTER
        return self.state == "running" and heard and not is_gone(holder)


@dataclass(frozen=True, kw_only=True)
class Job:
    """One Spark job of a backfill: some contiguous windows of a task, or one."""

    job_id: str
    """Also the run id in the token of the job's commit."""
    backfill_id: str
    task: str
    window_start: datetime | None
    window_end: datetime | None
    windows: int
    fence: int
    state: JobState = "running"
    rows_written: int | None = None
    bytes_read: int | None = None
    bytes_written: int | None = None
    seconds: float | None = None
    error: str | None = None
    started_at: datetime
    finished_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Separability:
    """Whether windows of a task may be computed together, by its code's fingerprint."""

    task: str
    fingerprint: str
    separable: bool
    evidence: str


_BACKFILL = tuple(each.name for each in fields(Backfill))
_JOB = tuple(each.name for each in fields(Job))
_JSON = ("request", "tags", "detail")


class BackfillRecords:
    """Reads and writes what is known of backfills."""

    def __init__(self, statements: Statements, *, now: Callable[[], datetime]) -> None:
        self._statements = statements
        self._now = now

    def open(self, wanted: Backfill) -> Backfill:
        """Record a backfill that begins, or go on with the open one of the same request.

        Another living backfill that would set some of the same rows is in the way.
        """
        with self._statements.transaction() as execute:
            others = [self._read(row) for row in execute(f"{_SELECT} WHERE state = ?", ["running"])]
            for other in others:
                if other.alive(self._now()) and _clash(other, wanted):
                    raise UsageError(
                        f"backfill {other.backfill_id} (process {other.pid} on {other.host}) is "
                        f"setting some of the same windows of {_clash(other, wanted)}",
                        next_step=f"wait for it (setpoint backfill status {other.backfill_id}), "
                        f"or stop it: setpoint backfill cancel {other.backfill_id}",
                    )
            same = execute(
                f"{_SELECT} WHERE request_key = ? AND state IN (?, ?, ?) ORDER BY since DESC",
                [wanted.request_key, *OPEN],
            )
            now = self._now()
            found = self._read(same[0]) if same else None
            kept = wanted
            if found is not None:
                kept = replace(
                    wanted,
                    backfill_id=found.backfill_id,
                    since=found.since,
                    windows=found.windows,
                    started_at=found.started_at,
                    detail=found.detail,
                )
            kept = replace(kept, seen_at=now)
            self._put(execute, kept)
        return kept

    def unfinished(self, request_key: str) -> Backfill | None:
        """The open backfill of this very request, if there is one."""
        found = self._statements.query(
            f"{_SELECT} WHERE request_key = ? AND state IN (?, ?, ?) ORDER BY since DESC",
            [request_key, *OPEN],
        )
        return self._read(found[0]) if found else None

    def seen(self, backfill_id: str) -> Wish:
        """Say that its process lives, and hear what a person wants of it."""
        with self._statements.transaction() as execute:
            execute(
                "UPDATE backfill SET seen_at = ? WHERE backfill_id = ?",
                [to_text(self._now()), backfill_id],
            )
            found = execute("SELECT wish FROM backfill WHERE backfill_id = ?", [backfill_id])
        wish: Wish = found[0][0] if found else "run"
        return wish

    def wish(self, backfill_id: str, wish: Wish) -> Backfill:
        """Ask the process that works on it to pause or to stop for good."""
        with self._statements.transaction() as execute:
            backfill = self._only(execute, backfill_id)
            if backfill.state not in OPEN:
                raise UsageError(
                    f"backfill {backfill.backfill_id} has {backfill.state} already",
                    next_step=f"setpoint backfill status {backfill.backfill_id}",
                )
            changed = replace(backfill, wish=wish)
            if not backfill.alive(self._now()):
                # Nobody is there to hear of it.
                state: BackfillState = "cancelled" if wish == "cancel" else "paused"
                changed = replace(changed, state=state)
            self._put(execute, changed)
        return changed

    def end(self, backfill_id: str, state: BackfillState, **detail: Any) -> Backfill:
        """Record how it ended, or that it stopped for now."""
        with self._statements.transaction() as execute:
            backfill = self._only(execute, backfill_id)
            changed = replace(
                backfill, state=state, finished_at=self._now(), detail={**backfill.detail, **detail}
            )
            self._put(execute, changed)
        return changed

    def note(self, backfill_id: str, **detail: Any) -> Backfill:
        """Keep more facts with it."""
        with self._statements.transaction() as execute:
            backfill = self._only(execute, backfill_id)
            changed = replace(backfill, detail={**backfill.detail, **detail})
            self._put(execute, changed)
        return changed

    def find(self, backfill_id: str) -> Backfill:
        """The backfill of this id, or of the only id that begins so."""
        return self._only(self._statements.query, backfill_id)

    def newest(self, limit: int = 20) -> list[Backfill]:
        """The last backfills, newest first."""
        rows = self._statements.query(f"{_SELECT} ORDER BY since DESC LIMIT ?", [limit])
        return [self._read(row) for row in rows]

    def put_job(self, job: Job) -> None:
        """Record a job that begins or that ended."""
        with self._statements.transaction() as execute:
            execute(_PUT_JOB, [_plain(getattr(job, name)) for name in _JOB])

    def jobs(self, backfill_id: str | None = None, *, task: str | None = None) -> list[Job]:
        """The jobs of a backfill, or of a task in all of them, in the order they began."""
        where = [("backfill_id", backfill_id), ("task", task)]
        given = [(name, value) for name, value in where if value is not None]
        chosen = " AND ".join(f"{name} = ?" for name, _ in given)
        query = f"{_SELECT_JOB}{' WHERE ' if chosen else ''}{chosen} ORDER BY fence"
        return [_job(row) for row in self._statements.query(query, [v for _, v in given])]

    def separability(self, task: str, fingerprint: str) -> Separability | None:
        """What a probe of this code has shown, if one was made."""
        found = self._statements.query(
            "SELECT separable, evidence FROM separability WHERE task = ? AND fingerprint = ?",
            [task, fingerprint],
        )
        if not found:
            return None
        separable, evidence = found[0]
        return Separability(
            task=task, fingerprint=fingerprint, separable=bool(separable), evidence=evidence
        )

    def put_separability(self, verdict: Separability) -> None:
        """Keep what a probe has shown."""
        with self._statements.transaction() as execute:
            execute(
                "INSERT INTO separability (task, fingerprint, separable, evidence, found_at)"
                " VALUES (?, ?, ?, ?, ?) ON CONFLICT (task, fingerprint) DO UPDATE SET"
                " separable = excluded.separable, evidence = excluded.evidence,"
                " found_at = excluded.found_at",
                [
                    verdict.task,
                    verdict.fingerprint,
                    int(verdict.separable),
                    verdict.evidence,
                    to_text(self._now()),
                ],
            )

    def take_slot(self, pool: str, limit: int, holder: str) -> int | None:
        """A free slot of a pool, or None; slots of processes that fell silent are free."""
        now = self._now()
        with self._statements.transaction() as execute:
            silent = to_text(now - SILENT_AFTER)
            execute("DELETE FROM pool_slot WHERE pool = ? AND seen_at < ?", [pool, silent])
            rows = execute("SELECT slot FROM pool_slot WHERE pool = ?", [pool])
            taken = {slot for (slot,) in rows}
            free = next((slot for slot in range(limit) if slot not in taken), None)
            if free is not None:
                execute(
                    "INSERT INTO pool_slot (pool, slot, holder, seen_at) VALUES (?, ?, ?, ?)",
                    [pool, free, holder, to_text(now)],
                )
        return free

    def keep_slots(self, holder: str) -> None:
        """Say that the holder of some slots lives."""
        with self._statements.transaction() as execute:
            execute(
                "UPDATE pool_slot SET seen_at = ? WHERE holder = ?", [to_text(self._now()), holder]
            )

    def free_slot(self, pool: str, slot: int, holder: str) -> None:
        """Give a slot back."""
        with self._statements.transaction() as execute:
            execute(
                "DELETE FROM pool_slot WHERE pool = ? AND slot = ? AND holder = ?",
                [pool, slot, holder],
            )

    def _only(self, execute: Execute, backfill_id: str) -> Backfill:
        rows = execute(f"{_SELECT} WHERE backfill_id >= ? AND backfill_id < ?",
                       [backfill_id, backfill_id + "\U0010ffff"])  # fmt: skip
        if len(rows) != 1 or not backfill_id:
            many = "More than one backfill" if len(rows) > 1 and backfill_id else "No backfill"
            raise UsageError(
                f"{many} has an id that begins with '{backfill_id}'.",
                next_step="setpoint backfill status",
            )
        return self._read(rows[0])

    def _put(self, execute: Execute, backfill: Backfill) -> None:
        execute(_PUT, [_plain(getattr(backfill, name)) for name in _BACKFILL])

    @staticmethod
    def _read(row: Sequence[Any]) -> Backfill:
        named = dict(zip(_BACKFILL, row, strict=True))
        for name in _JSON:
            named[name] = json.loads(named[name])
        for name in ("started_at", "seen_at", "finished_at"):
            named[name] = from_text(named[name]) if named[name] else None
        named["scopes"] = tuple(
            TaskRange(task=task, start=_moment(start), end=_moment(end))
            for task, start, end in json.loads(named["scopes"])
        )
        return Backfill(**named)


def _upsert(table: str, columns: tuple[str, ...]) -> str:
    marks = ", ".join("?" for _ in columns)
    changed = ", ".join(f"{column} = excluded.{column}" for column in columns[1:])
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
        f" ON CONFLICT ({columns[0]}) DO UPDATE SET {changed}"
    )


_PUT = _upsert("backfill", _BACKFILL)
_PUT_JOB = _upsert("backfill_job", _JOB)
_SELECT = f"SELECT {', '.join(_BACKFILL)} FROM backfill"  # noqa: S608
_SELECT_JOB = f"SELECT {', '.join(_JOB)} FROM backfill_job"  # noqa: S608


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, tuple):
        ranges = [(each.task, _plain(each.start), _plain(each.end)) for each in value]
        return json.dumps(ranges)
    if isinstance(value, Mapping):
        return json.dumps(dict(value), sort_keys=True, allow_nan=False)
    return value


def _moment(text: str | None) -> datetime | None:
    return from_text(text) if text else None


def _job(row: Sequence[Any]) -> Job:
    named = dict(zip(_JOB, row, strict=True))
    for name in ("window_start", "window_end", "started_at", "finished_at"):
        named[name] = _moment(named[name])
    return Job(**named)


def _clash(one: Backfill, other: Backfill) -> str | None:
    """The task of which both set some of the same rows; shadows write beside them."""
    aside = one.detail.get("shadow") or other.detail.get("shadow")
    if aside and one.request_key != other.request_key:
        return None
    return next((a.task for a in one.scopes for b in other.scopes if a.overlaps(b)), None)
