"""How runs and attempts change, decided from what is recorded. Pure: no store, no clock.

Each function takes the records as they are and gives the `Change` to put. Stores only load,
ask here, and put, inside one transaction; so every ledger decides alike.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from setpoint.errors import LedgerError, StaleFence
from setpoint.ledger.record import Attempt, AttemptState, Detail, Outcome, Run, Scope, Started

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

LONGEST_ERROR = 2000
CODE_CHANGED = "abandoned: the code changed before the run ended"
OVERTAKEN = "abandoned: the window was recorded by a later batch"
TAKEN = "abandoned: another process took over a scope that overlaps it"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Who acts, and at which fence and time: what the store knows and the caller says."""

    fence: int
    now: datetime
    pid: int
    host: str


@dataclass(frozen=True, kw_only=True)
class Change:
    """Records to put as they stand here, after `supersedes` ceased to be its scope's latest."""

    runs: tuple[Run, ...]
    attempts: tuple[Attempt, ...] = ()
    supersedes: str | None = None


def begin(
    scope: Scope,
    *,
    target: str,
    fingerprint: str,
    run_id: str,
    latest: Run | None,
    attempts: Sequence[Attempt],
    origin: Origin,
) -> tuple[Change, Started]:
    """Continue the scope's open run when the code is the same; else begin a new one."""
    ended: tuple[Run, ...] = ()
    lost: tuple[Attempt, ...] = ()
    if latest is not None and latest.state == "running":
        if latest.fingerprint == fingerprint:
            return _next_attempt(
                replace(latest, target=target),
                _with_open_ended(attempts, "lost", origin.now),
                origin,
            )
        lost = _with_open_ended(attempts, "lost", origin.now)
        ended = (_abandoned(latest, CODE_CHANGED, origin.now),)
    run = Run(
        run_id=run_id,
        task=scope.task,
        window_start=scope.window_start,
        window_end=scope.window_end,
        target=target,
        fingerprint=fingerprint,
        state="running",
        attempts=1,
        fence=origin.fence,
        started_at=origin.now,
        pid=origin.pid,
        host=origin.host,
    )
    attempt = _open_attempt(run_id, 1, origin)
    change = Change(
        runs=(*ended, run),
        attempts=(*lost, attempt),
        supersedes=latest.run_id if latest else None,
    )
    return change, Started(run=run, attempt=attempt)


def retry(
    run: Run,
    *,
    attempts: Sequence[Attempt],
    error: str,
    error_kind: str,
    seconds: float | None,
    origin: Origin,
) -> tuple[Change, Started]:
    """End the open attempt with its error and open the next."""
    tried = _with_open_ended(
        attempts,
        "failed",
        origin.now,
        seconds=seconds,
        error=one_line(error),
        error_kind=error_kind,
    )
    return _next_attempt(run, tried, origin)


def succeed(
    run: Run,
    *,
    attempts: Sequence[Attempt],
    rows: int | None,
    snapshot: str | None,
    checksum: str | None,
    seconds: float | None,
    detail: Detail,
    adopted: bool,
    now: datetime,
) -> Change:
    """End the run and its open attempt well."""
    state: AttemptState = "adopted" if adopted else "succeeded"
    tried = _with_open_ended(attempts, state, now, seconds=seconds)
    ended = replace(
        run,
        state="succeeded",
        finished_at=now,
        rows=rows,
        snapshot=snapshot,
        checksum=checksum,
        seconds=_total(tried),
        detail=plain({**detail, "adopted": True} if adopted else detail),
    )
    return Change(runs=(ended,), attempts=tried)


def fail(
    run: Run,
    *,
    attempts: Sequence[Attempt],
    error: str,
    error_kind: str,
    seconds: float | None,
    detail: Detail,
    now: datetime,
) -> Change:
    """End the run and its open attempt with the error."""
    line = one_line(error)
    tried = _with_open_ended(
        attempts,
        "failed",
        now,
        seconds=seconds,
        error=line,
        error_kind=error_kind,
    )
    ended = replace(
        run,
        state="failed",
        finished_at=now,
        seconds=_total(tried),
        error=line,
        error_kind=error_kind,
        detail=plain(detail),
    )
    return Change(runs=(ended,), attempts=tried)


def record(
    outcome: Outcome,
    *,
    run_id: str,
    latest: Run | None,
    attempts: Sequence[Attempt],
    origin: Origin,
) -> Change:
    """A run that is already over, in place of the scope's latest."""
    ended: tuple[Run, ...] = ()
    lost: tuple[Attempt, ...] = ()
    if latest is not None and latest.state == "running":
        ended = (_abandoned(latest, OVERTAKEN, origin.now),)
        lost = _with_open_ended(attempts, "lost", origin.now)
    error = None if outcome.error is None else one_line(outcome.error)
    attempt = replace(
        _open_attempt(run_id, 1, origin),
        state=outcome.state,
        finished_at=origin.now,
        seconds=outcome.seconds,
        error=error,
        error_kind=outcome.error_kind,
    )
    scope = outcome.scope
    run = Run(
        run_id=run_id,
        task=scope.task,
        window_start=scope.window_start,
        window_end=scope.window_end,
        target=outcome.target,
        fingerprint=outcome.fingerprint,
        state=outcome.state,
        attempts=1,
        fence=origin.fence,
        started_at=origin.now,
        finished_at=origin.now,
        rows=outcome.rows,
        checksum=outcome.checksum,
        snapshot=outcome.snapshot,
        seconds=outcome.seconds,
        error=error,
        error_kind=outcome.error_kind,
        detail=plain(outcome.detail),
        pid=origin.pid,
        host=origin.host,
    )
    return Change(
        runs=(*ended, run),
        attempts=(*lost, attempt),
        supersedes=latest.run_id if latest else None,
    )


def abandon(run: Run, *, attempts: Sequence[Attempt], now: datetime) -> Change:
    """End a run whose scope is part of one that another process has taken over."""
    return Change(
        runs=(_abandoned(run, TAKEN, now),), attempts=_with_open_ended(attempts, "lost", now)
    )


def held(run: Run | None, *, run_id: str, fence: int, latest: Run | None) -> Run:
    """The run, when this fence still holds it; `StaleFence` when a newer attempt does."""
    if run is None:
        raise unknown(run_id)
    newest = max(run.fence, latest.fence if latest else 0)
    if fence < newest:
        raise StaleFence(
            f"Attempt with fence {fence} of run {run_id} ({run.task}) was taken over:"
            f" fence {newest} is newer. Its result is not recorded.",
            next_step="setpoint history " + run.task,
        )
    if fence != run.fence:
        raise LedgerError(f"Fence {fence} was never given to run {run_id} ({run.task}).")
    return run


def still_open(run: Run, wanted: str) -> bool:
    """Whether the run can end as `wanted`; no when it already did, an error when otherwise."""
    if run.state == "running":
        return True
    if run.state == wanted:
        return False
    raise LedgerError(f"Run {run.run_id} ({run.task}) has already {run.state}.")


def unknown(run_id: str) -> LedgerError:
    """The error for a run that the ledger does not hold."""
    return LedgerError(f"The ledger knows no run {run_id}.", next_step="setpoint history")


def one_line(text: str) -> str:
    """The text on one line of printable characters, cut where it is too long to read."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST_ERROR else line[: LONGEST_ERROR - 1] + "…"


def plain(detail: Detail) -> Detail:
    """A copy holding only what JSON can, as it will be read back."""
    copy: Detail = json.loads(json.dumps(dict(detail), allow_nan=False))
    return copy


def _next_attempt(run: Run, tried: tuple[Attempt, ...], origin: Origin) -> tuple[Change, Started]:
    number = run.attempts + 1
    attempt = _open_attempt(run.run_id, number, origin)
    going = replace(run, attempts=number, fence=origin.fence, pid=origin.pid, host=origin.host)
    change = Change(runs=(going,), attempts=(*tried, attempt))
    return change, Started(run=going, attempt=attempt, predecessors=tried)


def _open_attempt(run_id: str, number: int, origin: Origin) -> Attempt:
    return Attempt(
        run_id=run_id,
        number=number,
        fence=origin.fence,
        state="running",
        started_at=origin.now,
        pid=origin.pid,
        host=origin.host,
    )


def _with_open_ended(
    attempts: Sequence[Attempt],
    state: AttemptState,
    now: datetime,
    *,
    seconds: float | None = None,
    error: str | None = None,
    error_kind: str | None = None,
) -> tuple[Attempt, ...]:
    return tuple(
        replace(
            each,
            state=state,
            finished_at=now,
            seconds=seconds,
            error=error,
            error_kind=error_kind,
        )
        if each.state == "running"
        else each
        for each in attempts
    )


def _abandoned(run: Run, why: str, now: datetime) -> Run:
    return replace(run, state="failed", finished_at=now, error=why, error_kind="Abandoned")


def _total(attempts: Iterable[Attempt]) -> float | None:
    known = [each.seconds for each in attempts if each.seconds is not None]
    return sum(known) if known else None
