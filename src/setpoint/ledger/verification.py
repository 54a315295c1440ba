"""Verdicts of `verify`, kept under the code that they were reached on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from setpoint.ledger.instant import from_text, in_utc, to_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from datetime import datetime

SCHEMA = """
CREATE TABLE verification (
    task        TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    idempotent  INTEGER NOT NULL CHECK (idempotent IN (0, 1)),
    at          TEXT NOT NULL,
    window_name TEXT,
    checks      TEXT NOT NULL,
    failed      TEXT NOT NULL,
    cause       TEXT,
    seconds     REAL NOT NULL,
    PRIMARY KEY (task, fingerprint)
);
"""
_COLUMNS = "task, fingerprint, idempotent, at, window_name, checks, failed, cause, seconds"
_PUT = (
    f"INSERT INTO verification ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
    " ON CONFLICT (task, fingerprint) DO UPDATE SET idempotent = excluded.idempotent,"
    " at = excluded.at, window_name = excluded.window_name, checks = excluded.checks,"
    " failed = excluded.failed, cause = excluded.cause, seconds = excluded.seconds"
)
_OF_CODE = f"SELECT {_COLUMNS} FROM verification WHERE task = ? AND fingerprint = ?"  # noqa: S608
_ALL = f"SELECT {_COLUMNS} FROM verification ORDER BY task, at DESC"  # noqa: S608


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What `verify` found out about one task on one state of its code."""

    task: str
    fingerprint: str
    idempotent: bool
    at: datetime
    window: str | None = None
    checks: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    cause: str | None = None
    seconds: float = 0.0

    @property
    def words(self) -> str:
        """As `status` shows it."""
        if self.idempotent:
            return "verified on this code"
        return f"not idempotent: {self.cause or ', '.join(self.failed)}"


NOT_VERIFIED = "not verified"


class Verifications(Protocol):
    """The verdicts in a ledger; a verdict holds for the code it was reached on, and no other."""

    def put(self, verification: Verification) -> None:
        """Keep a verdict; the one before it on the same code is replaced."""
        ...

    def of(self, task: str, fingerprint: str) -> Verification | None:
        """The verdict on a task with exactly this code."""
        ...

    def all(self) -> list[Verification]:
        """Every verdict, by task, the newest first."""
        ...


class MemoryVerifications:
    """Verdicts in a dictionary."""

    def __init__(self, writing: Callable[[], AbstractContextManager[Any]]) -> None:
        self._writing = writing
        self._kept: dict[tuple[str, str], Verification] = {}

    def put(self, verification: Verification) -> None:
        """Keep a verdict; the one before it on the same code is replaced."""
        with self._writing():
            self._kept[verification.task, verification.fingerprint] = verification

    def of(self, task: str, fingerprint: str) -> Verification | None:
        """The verdict on a task with exactly this code."""
        return self._kept.get((task, fingerprint))

    def all(self) -> list[Verification]:
        """Every verdict, by task, the newest first."""
        newest = sorted(self._kept.values(), key=lambda each: in_utc(each.at), reverse=True)
        return sorted(newest, key=lambda each: each.task)


class TableVerifications:
    """Verdicts in a table, in SQL that SQLite and Postgres both read."""

    def __init__(
        self,
        writing: Callable[[], AbstractContextManager[Any]],
        reading: Callable[[], AbstractContextManager[Any]],
    ) -> None:
        self._writing = writing
        self._reading = reading

    def put(self, verification: Verification) -> None:
        """Keep a verdict; the one before it on the same code is replaced."""
        values = [
            verification.task,
            verification.fingerprint,
            int(verification.idempotent),
            to_text(verification.at),
            verification.window,
            json.dumps(verification.checks),
            json.dumps(verification.failed),
            verification.cause,
            verification.seconds,
        ]
        with self._writing() as connection:
            connection.execute(_PUT, values)

    def of(self, task: str, fingerprint: str) -> Verification | None:
        """The verdict on a task with exactly this code."""
        with self._reading() as connection:
            row = connection.execute(_OF_CODE, [task, fingerprint]).fetchone()
        return _verification(row) if row else None

    def all(self) -> list[Verification]:
        """Every verdict, by task, the newest first."""
        with self._reading() as connection:
            return [_verification(row) for row in connection.execute(_ALL)]


def _verification(row: tuple[Any, ...]) -> Verification:
    task, fingerprint, idempotent, at, window, checks, failed, cause, seconds = row
    return Verification(
        task=task,
        fingerprint=fingerprint,
        idempotent=bool(idempotent),
        at=from_text(at),
        window=window,
        checks=tuple(json.loads(checks)),
        failed=tuple(json.loads(failed)),
        cause=cause,
        seconds=seconds,
    )
