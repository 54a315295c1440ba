"""What any engine does for a run. Spark is the one there is; tests have one in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from setpoint.model.scope import Kinds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from setpoint.model.analysis import Analysis
    from setpoint.model.task import Task
    from setpoint.model.window import Window


@dataclass(frozen=True, kw_only=True)
class Token:
    """What a commit carries inside it, so that it can be recognised later."""

    run_id: str
    fence: int


@dataclass(frozen=True, kw_only=True)
class LateRows:
    """Rows of a source that arrived in a window and belong to one before it."""

    rows: int
    samples: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a write did."""

    rows: int
    snapshot: str | None
    replaced: int | None = None
    """Rows that stood in the scope before."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The snapshot of each source table that was read."""
    partitions: Mapping[str, int] = field(default_factory=dict)
    """Rows written by partition, where the target counts them."""
    kinds: Kinds = field(default_factory=Kinds)
    warnings: tuple[str, ...] = ()
    late: Mapping[str, LateRows] = field(default_factory=dict)
    """By source, the late rows that were left out."""


class Engine(Protocol):
    """Moves data: reads bounded sources, transforms, checks, and sets the scope."""

    def carry_out(
        self,
        task: Task,
        window: Window | None,
        token: Token,
        *,
        as_of: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run the task and set its scope in one commit that carries the token.

        With `as_of`, read each source table at the snapshot given there, and nothing else.
        """
        ...

    def find_commit(
        self, task: Task, run_id: str, *, as_of: Mapping[str, str] | None = None
    ) -> Outcome | None:
        """The outcome of a commit by this run that a run now would repeat, if there is one."""
        ...

    def cancel(self, token: Token) -> None:
        """Stop what an attempt is doing, from any thread; quietly when it does nothing."""
        ...

    def highest_fence(self, task: Task) -> int:
        """The highest fence in the history of the task's target; 0 when it has none."""
        ...

    def checksum(self, task: Task, window: Window | None, snapshot: str | None) -> str:
        """The content checksum of the scope as it stands in the target."""
        ...

    def rows(
        self,
        task: Task,
        window: Window | None,
        snapshot: str | None,
        *,
        where: str | None = None,
        summary: Mapping[str, str] | None = None,
        order: Sequence[str] = (),
        limit: int,
    ) -> list[dict[str, Any]]:
        """The rows of the scope as committed, as plain values: at most `limit`, in `order`.

        With `summary`, one row: each aggregate under its name, and `rows`, their number.
        """
        ...

    def analyse(self, task: Task, window: Window | None) -> Analysis:
        """Everything up to the write, without writing."""
        ...
