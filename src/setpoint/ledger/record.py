"""What the ledger remembers: runs, their attempts, and a summary of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Union

from setpoint.ledger.instant import in_utc

if TYPE_CHECKING:
    from datetime import datetime

RunState = Literal["running", "succeeded", "failed"]
AttemptState = Literal["running", "succeeded", "failed", "lost", "adopted"]

Json = Union[None, bool, int, float, str, "list[Json]", "dict[str, Json]"]
Detail = Mapping[str, Json]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What a run sets: one task on one window, or on its whole table when it has no windows."""

    task: str
    window_start: datetime | None
    window_end: datetime | None

    def __post_init__(self) -> None:
        start, end = self.window_start, self.window_end
        if start is None and end is None:
            return
        if start is None or end is None:
            raise ValueError(f"The window of {self.task} has only one edge.")
        start, end = in_utc(start), in_utc(end)
        if start >= end:
            raise ValueError(f"The window of {self.task} ends before it starts.")
        object.__setattr__(self, "window_start", start)
        object.__setattr__(self, "window_end", end)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One task on one window: how often it was tried and how it ended."""

    run_id: str
    task: str
    window_start: datetime | None
    window_end: datetime | None
    target: str
    fingerprint: str
    state: RunState
    attempts: int
    fence: int
    started_at: datetime
    finished_at: datetime | None = None
    rows: int | None = None
    checksum: str | None = None
    snapshot: str | None = None
    seconds: float | None = None
    error: str | None = None
    error_kind: str | None = None
    detail: Detail = field(default_factory=dict)
    pid: int
    host: str

    @property
    def scope(self) -> Scope:
        """The task and window of this run."""
        return Scope(task=self.task, window_start=self.window_start, window_end=self.window_end)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One try of a run. Its fence is higher than that of every attempt before it."""

    run_id: str
    number: int
    fence: int
    state: AttemptState
    started_at: datetime
    finished_at: datetime | None = None
    seconds: float | None = None
    error: str | None = None
    error_kind: str | None = None
    pid: int
    host: str


@dataclass(frozen=True, kw_only=True)
class Started:
    """An attempt that may now write, and the earlier ones whose commit may already be there."""

    run: Run
    attempt: Attempt
    predecessors: tuple[Attempt, ...] = ()

    @property
    def run_id(self) -> str:
        """The run's id, for the commit token."""
        return self.run.run_id

    @property
    def fence(self) -> int:
        """The attempt's fence, for the commit token."""
        return self.attempt.fence

    @property
    def number(self) -> int:
        """Which try of the run this is, from 1."""
        return self.attempt.number

    @property
    def continues(self) -> bool:
        """Whether the run had attempts before this one."""
        return bool(self.predecessors)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one window ended, for recording many that ended together."""

    task: str
    window_start: datetime | None
    window_end: datetime | None
    target: str
    fingerprint: str
    state: Literal["succeeded", "failed"]
    rows: int | None = None
    checksum: str | None = None
    snapshot: str | None = None
    seconds: float | None = None
    error: str | None = None
    error_kind: str | None = None
    detail: Detail = field(default_factory=dict)
    run_id: str | None = None

    @property
    def scope(self) -> Scope:
        """The task and window of this outcome."""
        return Scope(task=self.task, window_start=self.window_start, window_end=self.window_end)


class Standing(NamedTuple):
    """The latest run of a window in brief, edges as text: 350,000 are read at once."""

    window_start: str
    window_end: str
    state: RunState
    fingerprint: str
    fence: int


@dataclass(frozen=True, kw_only=True)
class TaskSummary:
    """Where one task stands: its windows counted by how their latest run ended.

    `rows` adds up the succeeded windows. `last_success` is when the last run to succeed did so.
    `last_error` is that of the window which failed last and has not succeeded since.
    """

    task: str
    running: int
    succeeded: int
    failed: int
    rows: int
    last_window_start: datetime | None
    last_window_end: datetime | None
    last_success: datetime | None
    last_error: str | None
    last_error_kind: str | None

    @property
    def windows(self) -> int:
        """How many windows have been run at all."""
        return self.running + self.succeeded + self.failed
