"""The outbox in tables, in SQL that SQLite and Postgres both read."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, cast

from setpoint.ledger.instant import from_text, to_text
from setpoint.ledger.outbox import Skip, Tally
from setpoint.model.delivery import Delivery, Sender
from setpoint.model.effect import Terms
from setpoint.model.idempotency_key import canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from setpoint.ledger.outbox import Selection
    from setpoint.model.delivery import State

# The same words as in the table of runs: not NULL, which a unique index takes for different.
WHOLE_TABLE = "all"
AFTER_ANY_TEXT = "\U0010ffff"
AT_ONCE = 500

SCHEMA = """
CREATE TABLE effect (
    key          TEXT NOT NULL PRIMARY KEY,
    task         TEXT NOT NULL,
    window_start TEXT NOT NULL,
    window_end   TEXT NOT NULL,
    effect       TEXT NOT NULL,
    kind         TEXT NOT NULL,
    business_id  TEXT NOT NULL,
    content      TEXT NOT NULL,
    digest       TEXT NOT NULL,
    changed      TEXT,
    honours_key  INTEGER NOT NULL CHECK (honours_key IN (0, 1)),
    resend       TEXT NOT NULL,
    terms        TEXT NOT NULL,
    state        TEXT NOT NULL
                 CHECK (state IN ('pending', 'sending', 'sent', 'failed', 'unknown')),
    by_hand      INTEGER NOT NULL CHECK (by_hand IN (0, 1)),
    revision     INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    not_before   TEXT,
    claim        TEXT,
    host         TEXT,
    pid          INTEGER,
    machine      TEXT,
    born         TEXT,
    taken_at     TEXT,
    recorded_at  TEXT NOT NULL,
    sent_at      TEXT,
    error        TEXT,
    status       INTEGER,
    run_id       TEXT,
    place        INTEGER NOT NULL
);

CREATE INDEX effect_due ON effect (state, recorded_at, place, key);
CREATE INDEX effect_of_task ON effect (task, effect, state);
CREATE INDEX effect_listed ON effect (recorded_at, place, key);

CREATE TABLE effect_skip (
    task         TEXT NOT NULL,
    window_start TEXT NOT NULL,
    window_end   TEXT NOT NULL,
    effect       TEXT NOT NULL,
    at           TEXT NOT NULL,
    run_id       TEXT,
    PRIMARY KEY (task, window_start, window_end, effect)
);
"""

COLUMNS = (
    "key",
    "task",
    "window_start",
    "window_end",
    "effect",
    "kind",
    "business_id",
    "content",
    "digest",
    "changed",
    "honours_key",
    "resend",
    "terms",
    "state",
    "by_hand",
    "revision",
    "attempts",
    "not_before",
    "claim",
    "host",
    "pid",
    "machine",
    "born",
    "taken_at",
    "recorded_at",
    "sent_at",
    "error",
    "status",
    "run_id",
    "place",
)
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM effect"  # noqa: S608
_PUT = (
    f"INSERT INTO effect ({', '.join(COLUMNS)})"  # noqa: S608
    f" VALUES ({', '.join('?' for _ in COLUMNS)}) ON CONFLICT (key) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[1:])
)
_SKIPS = "SELECT task, window_start, window_end, effect, at, run_id FROM effect_skip"
_SCOPE = "task = ? AND window_start = ? AND window_end = ? AND effect = ?"


class Connection(Protocol):
    """The one thing that is asked of a database: carry out a statement with `?` in it."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Iterable[Any]:
        """The rows of the answer."""
        ...


class TableDeliveries:
    """The tables as one transaction sees them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, keys: Sequence[str]) -> dict[str, Delivery]:
        """Those of these keys that are there."""
        found: dict[str, Delivery] = {}
        for first in range(0, len(keys), AT_ONCE):
            some = list(keys[first : first + AT_ONCE])
            marks = ", ".join("?" for _ in some)
            rows = self._connection.execute(f"{_SELECT} WHERE key IN ({marks})", some)
            found |= {each.key: each for each in map(_delivery, rows)}
        return found

    def put(self, deliveries: Iterable[Delivery]) -> None:
        """Keep them, in place of what was there."""
        for each in deliveries:
            self._connection.execute(_PUT, _row(each))

    def due(self, chosen: Selection, now: datetime, limit: int) -> list[Delivery]:
        """Pending ones whose time has come, in the order in which they were recorded."""
        where, values = _where(chosen, "pending")
        return self._deliveries(
            f"{where} AND (not_before IS NULL OR not_before <= ?)"
            " ORDER BY recorded_at, place, key LIMIT ?",
            [*values, _instant(now), limit],
        )

    def next_due(self, chosen: Selection) -> tuple[bool, datetime | None]:
        """Whether any is pending, and when the first may be sent (None: now)."""
        where, values = _where(chosen, "pending")
        ((count, timed, first),) = self._connection.execute(
            f"SELECT count(*), count(not_before), min(not_before) FROM effect{where}",  # noqa: S608
            values,
        )
        return bool(count), from_text(first) if count and timed == count else None

    def in_state(self, state: State, chosen: Selection) -> list[Delivery]:
        """All of a state."""
        where, values = _where(chosen, state, waiting=True)
        return self._deliveries(f"{where} ORDER BY recorded_at, place, key", values)

    def listed(
        self, state: State | None, chosen: Selection, prefix: str | None, limit: int | None
    ) -> list[Delivery]:
        """For a person: the newest first."""
        where, values = _where(chosen, state)
        if prefix is not None:
            where += " AND key >= ? AND key < ?"
            values += [prefix, prefix + AFTER_ANY_TEXT]
        order = " ORDER BY recorded_at DESC, place DESC, key DESC"
        if limit is None:
            return self._deliveries(where + order, values)
        return self._deliveries(f"{where}{order} LIMIT ?", [*values, limit])

    def tallies(self) -> list[Tally]:
        """How many there are, by task, effect and state."""
        rows = self._connection.execute(
            "SELECT task, effect, state, count(*), count(changed) FROM effect"
            " GROUP BY task, effect, state ORDER BY task, effect, state"
        )
        return [
            Tally(task=task, effect=effect, state=state, count=count, changed=changed)
            for task, effect, state, count, changed in rows
        ]

    def skip(self, skip: Skip) -> None:
        """Note that a window's messages are not to be sent."""
        self._connection.execute(
            "INSERT INTO effect_skip (task, window_start, window_end, effect, at, run_id)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [*_skip_scope(skip), to_text(skip.at), skip.run_id],
        )

    def skips(self, task: str | None) -> list[Skip]:
        """The windows whose messages are not to be sent."""
        order = " ORDER BY task, window_start, effect"
        rows = (
            self._connection.execute(_SKIPS + order)
            if task is None
            else self._connection.execute(f"{_SKIPS} WHERE task = ?{order}", [task])
        )
        return [
            Skip(
                task=name,
                window_start=_moment(start),
                window_end=_moment(end),
                effect=effect,
                at=from_text(at),
                run_id=run_id,
            )
            for name, start, end, effect, at, run_id in rows
        ]

    def unskip(self, skip: Skip) -> None:
        """Forget a skip."""
        self._connection.execute(f"DELETE FROM effect_skip WHERE {_SCOPE}", _skip_scope(skip))  # noqa: S608

    def _deliveries(self, more: str, values: Sequence[Any]) -> list[Delivery]:
        rows = cast("Iterator[tuple[Any, ...]]", self._connection.execute(_SELECT + more, values))
        return [_delivery(row) for row in rows]


def _where(
    chosen: Selection, state: State | None, *, waiting: bool = False
) -> tuple[str, list[Any]]:
    where, values = [], []
    wanted = {
        "state": state,
        "task": chosen.task,
        "effect": chosen.effect,
        "key": chosen.key,
    }
    for column, value in wanted.items():
        if value is not None:
            where.append(f"{column} = ?")
            values.append(value)
    if not chosen.by_hand and not waiting:
        where.append("by_hand = 0")
    return " WHERE " + " AND ".join(where or ["1 = 1"]), values


def _row(each: Delivery) -> list[Any]:
    sender = each.sender
    return [
        each.key,
        each.task,
        _edge(each.window_start),
        _edge(each.window_end),
        each.effect,
        each.kind,
        each.business_id,
        canonical_json(each.content),
        each.digest,
        None if each.changed is None else canonical_json(each.changed),
        int(each.honours_key),
        each.resend,
        canonical_json(each.terms.document()),
        each.state,
        int(each.by_hand),
        each.revision,
        each.attempts,
        _instant(each.not_before),
        sender.claim if sender else None,
        sender.host if sender else None,
        sender.pid if sender else None,
        sender.machine if sender else None,
        sender.born if sender else None,
        _instant(each.taken_at),
        _instant(each.recorded_at),
        _instant(each.sent_at),
        each.error,
        each.status,
        each.run_id,
        each.place,
    ]


def _delivery(row: Sequence[Any]) -> Delivery:
    named = dict(zip(COLUMNS, row, strict=True))
    marks = {name: named.pop(name) for name in ("claim", "host", "pid", "machine", "born")}
    named["sender"] = Sender(**marks) if marks["claim"] else None
    for moment in ("window_start", "window_end"):
        named[moment] = _moment(named[moment])
    for moment in ("not_before", "taken_at", "recorded_at", "sent_at"):
        named[moment] = from_text(named[moment]) if named[moment] else None
    for document in ("content", "changed", "terms"):
        text = named[document]
        named[document] = None if text is None else json.loads(text, parse_float=Decimal)
    named["terms"] = Terms.of(named["terms"])
    for flag in ("honours_key", "by_hand"):
        named[flag] = bool(named[flag])
    return Delivery(**named)


def _skip_scope(skip: Skip) -> list[Any]:
    return [skip.task, _edge(skip.window_start), _edge(skip.window_end), skip.effect]


def _instant(moment: datetime | None) -> str | None:
    # Always to the microsecond, so that texts of two moments compare as the moments do.
    return None if moment is None else moment.isoformat(timespec="microseconds")


def _edge(moment: datetime | None) -> str:
    return WHOLE_TABLE if moment is None else to_text(moment)


def _moment(text: str) -> datetime | None:
    return None if text == WHOLE_TABLE else from_text(text)
