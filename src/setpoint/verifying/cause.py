"""The likely cause of a difference, and what to do about it. Pure: evidence in, words out."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setpoint.verifying.difference import Difference

UUID = re.compile(
    r"[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}", re.IGNORECASE
)
MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
RECENT = timedelta(days=2)
CLOSE = 1e-6
"""Two sums of the same floats differ by less than this part of them."""


@dataclass(frozen=True, kw_only=True)
class Clue:
    """Something that was seen in a plan, in code or in values, and may be the cause."""

    kind: str
    words: str
    column: str | None = None
    where: str | None = None
    """File and line."""
    fix: str | None = None


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why the states differ, as far as can be told."""

    kind: str
    words: str
    fix: str
    where: str | None = None


FIXES = {
    "append": "set the scope instead of adding to it: delete and insert the date's rows in one "
    "transaction, overwrite its partition by filter, or merge on a key",
    "clock": "take the time from the date that the run is for, not from the clock",
    "chance": "derive the value from the row (a hash of its key), or give the generator a seed",
    "uuid": "derive the key from the row: a hash of its business key, uuid5 or surrogate_key(…)",
    "sequence": "derive the key from the row; a sequence counts how often the job ran",
    "float": "sum decimals (cast to DECIMAL), or round to a declared scale: floats add up "
    "differently in another order",
    "row order": "make the order total: order by a unique column, max_by/min_by instead of "
    "first/last, array_sort around collect_list",
    "environment": "make it a parameter of the task, or a constant of its code: a variable drifts",
    "hash order": "sort a set before it decides anything: its order is that of the hash seed",
    "effect": "send it after the commit, once for a task and window, with a key by which the "
    "receiver knows a repeat",
    "torn write": "write in one transaction, or write aside and swap: a reader, or a crash, must "
    "find old rows or new ones",
    "counter": "set the value from its source instead of adding to what is there",
    "own target": "read the sources only: a result made from the table it is written to changes "
    "with every run",
    "state": "keep nothing between runs: take every input from a source that is bounded by window",
    "scope": "write only rows of the date that the run is for, and replace by that same date",
    "emptied": "replace by filter: a date without rows must be emptied too, which dynamic "
    "overwrite does not do",
    "key": "merge on a key that is unique and does not change, with a version that decides",
    "window order": "give the merge a version column: the newest row must win, whichever window "
    "arrives last",
    "udf": "make the function depend on its arguments alone",
    "live source": "bound the source by the run's date, or keep it where snapshots can be pinned",
    "unknown": "compare the rows above with the code that fills these columns",
}

WORDS = {
    "append": "the job adds rows to what is there; each run and each retry adds them again",
    "clock": "the value comes from the clock",
    "chance": "the value comes from an unseeded random generator",
    "uuid": "the key is a random UUID, another one in each run",
    "sequence": "the key is drawn from a sequence, which goes on counting",
    "float": "floats are added up in the order in which rows arrive",
    "row order": "the result depends on the order in which rows arrive",
    "environment": "an environment variable, the locale or the time zone decides the rows",
    "hash order": "the order of a Python set decides the result, and with it the hash seed",
    "effect": "something is sent to the outside each time the job runs",
    "torn write": "the write is made of several steps that are visible one by one",
    "counter": "the job changes a value by an amount instead of setting it",
    "own target": "the job reads the table that it writes to",
    "state": "something is remembered from one run to the next",
    "scope": "a run changes rows of dates that it does not own",
    "emptied": "a date whose rows are gone at the source keeps its old rows",
    "key": "rows are matched by a key that is not unique, or not stable",
    "window order": "the last window to arrive wins, not the newest row",
    "udf": "a Python function gives another result for the same arguments",
    "live source": "the source changes while the job runs",
    "unknown": "no cause was recognised",
}

SUITED: dict[str, tuple[str, ...]] = {
    "plan": (),
    "two": (
        "append",
        "counter",
        "uuid",
        "sequence",
        "chance",
        "clock",
        "key",
        "own target",
        "state",
    ),
    "ten": ("append", "counter", "state", "chance", "clock", "own target"),
    "crash": ("append", "torn write", "counter", "effect"),
    "readers": ("torn write",),
    "neighbours": ("scope", "own target"),
    "order": ("window order", "own target", "state", "key", "scope"),
    "batch": (),
    "month": ("append", "scope", "clock", "window order"),
    "clock": ("clock",),
    "partitioning": ("row order", "float", "sequence", "chance"),
    "environment": ("environment", "hash order"),
    "effects": ("effect",),
}
"""The causes that each check is there to find, the likeliest first."""

ENOUGH = 3
"""A clue that scores less explains nothing: the check itself tells more."""
DOUBLING = frozenset({"append", "sequence", "uuid", "counter", "key"})
SAME = {"row order": {"sequence"}, "sequence": {"row order"}, "uuid": {"chance"}}


def likely_cause(
    check: str,
    difference: Difference | None,
    clues: Sequence[Clue] = (),
    *,
    now: datetime | None = None,
) -> Cause:
    """The cause that fits the check, the difference and what is known of the code best."""
    seen = value_clues(difference, now or datetime.now(timezone.utc)) if difference else []
    best, most = None, ENOUGH - 1
    for clue in [*clues, *seen]:
        score = _score(clue, check, difference, seen)
        if score > most:
            best, most = clue, score
    if best is not None:
        fix = best.fix or FIXES[best.kind]
        return Cause(kind=best.kind, words=best.words, fix=fix, where=best.where)
    kind = _fallback(check, difference)
    return Cause(kind=kind, words=WORDS[kind], fix=FIXES[kind])


def value_clues(difference: Difference, now: datetime) -> list[Clue]:
    """What the differing values themselves tell."""
    if difference.kind == "doubled":
        return [Clue(kind="append", words=WORDS["append"])]
    found = []
    for column in difference.columns:
        pairs = [
            (sample.before.get(column), sample.after.get(column))
            for sample in difference.samples
            if sample.before is not None and sample.after is not None
        ]
        kind = _kind_of([pair for pair in pairs if pair[0] != pair[1]], now)
        if kind:
            found.append(Clue(kind=kind, words=f"column {column}: {WORDS[kind]}", column=column))
    return found


def _kind_of(pairs: list[tuple[Any, Any]], now: datetime) -> str | None:  # noqa: PLR0911
    if not pairs:
        return None
    texts = [(str(one), str(other)) for one, other in pairs]
    if all(UUID.fullmatch(one) and UUID.fullmatch(other) for one, other in texts):
        return "uuid"
    if all(_recent(one, now) and _recent(other, now) for one, other in pairs):
        return "clock"
    if all(_near(one, other) for one, other in pairs):
        return "float"
    if all(_rearranged(one, other) for one, other in pairs):
        return "row order"
    if all(_whole(one) and _whole(other) for one, other in pairs):
        # By one amount in each row; numbers that move anyhow have another cause.
        return "counter" if len({other - one for one, other in pairs}) == 1 else None
    return None


def _recent(value: Any, now: datetime) -> bool:
    if isinstance(value, str):
        if not MOMENT.fullmatch(value):
            return False
        try:
            value = datetime.fromisoformat(value.replace("Z", "+00:00"))
        except ValueError:
            return False
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
        return abs(moment - now) < RECENT
    if isinstance(value, date):
        return abs(value - now.date()) < RECENT
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return any(
            abs(value / unit - now.timestamp()) < RECENT.total_seconds() for unit in (1, 1e3, 1e6)
        )
    return False


def _near(one: Any, other: Any) -> bool:
    numbers = (float, Decimal)
    if not (isinstance(one, numbers) and isinstance(other, numbers)):
        return False
    return math.isclose(float(one), float(other), rel_tol=CLOSE, abs_tol=CLOSE)


def _rearranged(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return sorted(re.split(r"[,;| ]", one)) == sorted(re.split(r"[,;| ]", other))
    if isinstance(one, tuple) and isinstance(other, tuple):
        return sorted(map(repr, one)) == sorted(map(repr, other))
    return False


def _whole(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


def _score(clue: Clue, check: str, difference: Difference | None, seen: Sequence[Clue]) -> int:
    """How well a clue explains a difference; 0 when it does not at all."""
    suited = SUITED.get(check, ())
    score = 1 if suited else ENOUGH
    if clue.kind in suited:
        score += 4 * (len(suited) - suited.index(clue.kind)) // len(suited) + 2
    elif suited:
        score -= 3
    if clue.where or clue.fix:
        score += 1  # a line of code is worth more than a guess from values
    kinds = set() if clue in seen else {each.kind for each in seen}
    if clue.kind in kinds or kinds & SAME.get(clue.kind, set()):
        score += 4  # code and values tell the same
    if difference is None:
        return score
    if clue.column is not None:
        score += 5 if clue.column in difference.columns else -2
    if difference.kind == "doubled" and check in ("two", "ten", "crash", "month"):
        score += 4 if clue.kind in DOUBLING else -4
        score += 3 if clue.kind == "append" else 0
    if difference.kind == "changed" and clue.kind == "append":
        score -= 6  # rows that were added do not change others
    if difference.kind == "changed" and check == "order" and clue.kind == "state":
        score -= 4  # the same keys with other content: one window overwrote another
    return score


def _fallback(check: str, difference: Difference | None) -> str:
    if difference is not None and difference.kind == "doubled":
        return "append"
    usual = {
        "crash": "torn write",
        "readers": "torn write",
        "neighbours": "scope",
        "order": "window order",
        "month": "scope",
        "clock": "clock",
        "partitioning": "row order",
        "environment": "environment",
        "effects": "effect",
    }
    return usual.get(check, "unknown")
