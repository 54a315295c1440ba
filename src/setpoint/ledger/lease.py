"""The right to set a scope: who has it, what it excludes, and who may take it. Pure.

No clock decides here. A lease is told from an earlier one by its fence, and a lease that lives
from one that does not by its beat, a count that its holder raises. Whoever takes over names the
beat that it saw: if the holder has raised it since, nothing is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.errors import LeaseLost
from setpoint.ledger.record import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from setpoint.ledger.record import Run


@dataclass(frozen=True, kw_only=True)
class Holder:
    """A process, told apart from a later one that was given the same number."""

    pid: int
    host: str
    machine: str = ""
    """Marks the running machine whose process numbers these are; empty when it is not known."""
    born: str = ""
    """Marks when the process began, in the machine's own count; empty when it is not known."""


@dataclass(frozen=True, kw_only=True)
class Lease:
    """The right of one process to set a scope, until it is given back or taken over."""

    fence: int
    task: str
    window_start: datetime | None
    window_end: datetime | None
    target: str
    pid: int
    host: str
    machine: str
    born: str
    beat: int
    seconds: float
    """Within this time the holder promises to raise the beat."""
    taken_at: datetime

    @property
    def scope(self) -> Scope:
        """The task and window."""
        return Scope(task=self.task, window_start=self.window_start, window_end=self.window_end)

    @property
    def holder(self) -> Holder:
        """The process that holds it."""
        return Holder(pid=self.pid, host=self.host, machine=self.machine, born=self.born)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a process asks for."""

    scope: Scope
    target: str
    holder: Holder
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Grant:
    """The answer to a claim: a lease, or those that stand in its way."""

    lease: Lease | None
    blocked_by: tuple[Lease, ...] = ()


def overlap(one: Scope, other: Scope) -> bool:
    """Whether two scopes of one table share an instant; a whole table overlaps everything."""
    if one.window_start is None or one.window_end is None:
        return True
    if other.window_start is None or other.window_end is None:
        return True
    return one.window_start < other.window_end and other.window_start < one.window_end


def in_the_way(
    claim: Claim, leases: Iterable[Lease], *, over: Sequence[Lease]
) -> tuple[Lease, ...]:
    """The leases that exclude a claim, but for those taken over as they were last seen."""
    taken = {(each.fence, each.beat) for each in over}
    return tuple(
        lease
        for lease in leases
        if (lease.task == claim.scope.task or lease.target == claim.target)
        and overlap(lease.scope, claim.scope)
        and (lease.fence, lease.beat) not in taken
    )


def granted(claim: Claim, *, fence: int, now: datetime) -> Lease:
    """A new lease for a claim that nothing stands in the way of."""
    holder = claim.holder
    return Lease(
        fence=fence,
        task=claim.scope.task,
        window_start=claim.scope.window_start,
        window_end=claim.scope.window_end,
        target=claim.target,
        pid=holder.pid,
        host=holder.host,
        machine=holder.machine,
        born=holder.born,
        beat=0,
        seconds=claim.seconds,
        taken_at=now,
    )


def lost(lease: Lease, *, leases: Iterable[Lease], runs: Iterable[Run]) -> LeaseLost:
    """The error for a lease that is gone, with who took it: by its lease, or by its later run."""
    taker: Lease | Run | None = next(
        (
            each
            for each in sorted(leases, key=lambda each: each.fence)
            if each.fence > lease.fence
            and (each.task == lease.task or each.target == lease.target)
            and overlap(each.scope, lease.scope)
        ),
        None,
    )
    if taker is None:
        later = [
            run
            for run in runs
            if run.fence > lease.fence
            and overlap(run.scope, lease.scope)
            and (run.pid, run.host) != (lease.pid, lease.host)
        ]
        taker = min(later, key=lambda run: run.fence, default=None)
    who = f"process {taker.pid} on {taker.host}" if taker else "another process"
    return LeaseLost(
        f"{who} took {lease.task} over: this one had not renewed its lease for"
        f" {lease.seconds:g} s. Nothing of it is recorded.",
        next_step=f"setpoint history {lease.task}",
    )
