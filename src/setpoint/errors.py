"""Every error that Setpoint raises, in one tree.

Each carries what a person needs: what failed, what was found, and the next thing to type.

    SetpointError
    ├── UsageError               wrong flags, dates or names (exit code 2)
    ├── MissingExtra             an optional dependency is not installed
    ├── ProjectError             setpoint.toml or a task file is wrong
    ├── EnvironmentFault         Java, Spark, jars or the disk are not as needed
    ├── LedgerError              the ledger cannot be read or written
    │   ├── LeaseHeld            another process is setting the same scope
    │   └── StaleFence           a newer attempt has taken this run over
    │       └── LeaseLost        another process has taken the scope itself over
    └── RunError                 a task failed on a window
        ├── SourceFault          a source is missing or cannot be bounded
        ├── TransformFailed      the task's own code raised
        ├── ResultMisshapen      the result does not fit the target
        ├── HiddenInput          the result depends on a clock, chance or order
        ├── GateFailed           a check inside the write fired
        ├── CommitConflict       somebody else wrote the same scope (transient)
        ├── StorageFull          no space left where the table lives
        ├── Transient            worth another try: network, lost executors; tasks may raise it
        ├── EffectFault          what is to be sent cannot be made from the committed rows
        ├── EffectRefused        not sent, and never will be; functions of `call` may raise it
        └── EngineFailed         anything else from Spark
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class SetpointError(Exception):
    """Something went wrong that a person can act on."""

    exit_code = 1
    transient = False

    def __init__(self, message: str, *, next_step: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step


class UsageError(SetpointError):
    """The command, a flag or a name is wrong."""

    exit_code = 2


class MissingExtra(SetpointError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed.", next_step=f'pip install "setpoint[{extra}]"'
        )


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing wrong in a project's files."""

    path: Path
    message: str
    line: int | None = None
    fix: str | None = None

    @property
    def place(self) -> str:
        """The file, with the line where one is known."""
        return f"{self.path}:{self.line}" if self.line else str(self.path)


class ProjectError(SetpointError):
    """The project's files are wrong; all faults at once."""

    def __init__(
        self, message: str, *, faults: Sequence[Fault] = (), next_step: str | None = None
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.faults = tuple(faults)


class EnvironmentFault(SetpointError):
    """Java, Spark, jars or the disk are not as needed."""


class LedgerError(SetpointError):
    """The ledger cannot be read or written."""


class LeaseHeld(LedgerError):
    """Another process is setting the same scope, and the command was not to wait."""


class StaleFence(LedgerError):
    """A newer attempt has taken this run over."""


class LeaseLost(StaleFence):
    """Another process has taken the scope over."""


class RunError(SetpointError):
    """A task failed on a window."""

    def __init__(
        self,
        message: str,
        *,
        task: str | None = None,
        window: str | None = None,
        table: str | None = None,
        facts: Mapping[str, str] | None = None,
        next_step: str | None = None,
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.task = task
        self.window = window
        self.table = table
        self.facts = dict(facts or {})

    def on(self, *, task: str, window: str, table: str) -> RunError:
        """The same error, saying where it happened; what is already said stays."""
        self.task = self.task or task
        self.window = self.window or window
        self.table = self.table or table
        return self


class SourceFault(RunError):
    """A source is missing, or cannot be bounded to the window."""


class TransformFailed(RunError):
    """The task's own code raised."""


class ResultMisshapen(RunError):
    """The result does not fit the target."""


class HiddenInput(RunError):
    """The result depends on a clock, on chance or on row order."""


class GateFailed(RunError):
    """A check inside the write fired; no reader saw the rows."""

    def __init__(
        self,
        message: str,
        *,
        gate: str,
        expected: str,
        found: str,
        samples: Sequence[str] = (),
        next_step: str | None = None,
    ) -> None:
        super().__init__(
            message,
            facts={"gate": gate, "expected": expected, "found": found},
            next_step=next_step,
        )
        self.gate = gate
        self.samples = tuple(samples)


class CommitConflict(RunError):
    """Somebody else wrote to the same scope between read and commit."""

    transient = True


class StorageFull(RunError):
    """No space is left where the table lives."""


class Transient(RunError):
    """Worth another try. Raise it in a task for faults that pass by themselves."""

    transient = True


class EffectFault(RunError):
    """What is to be sent cannot be made from the committed rows."""


class EffectRefused(RunError):
    """Not sent, and never will be. Raise it in a function of `call` that did nothing."""


class EngineFailed(RunError):
    """Spark failed in a way that Setpoint has no better word for."""
