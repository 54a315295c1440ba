"""Who wants to know how a run goes: the command line, a log, nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from setpoint.errors import SetpointError
    from setpoint.model.plan import Plan, Step
    from setpoint.running.result import RunResult


class Listener(Protocol):
    """Told of each thing as it happens."""

    def planned(self, plan: Plan) -> None:
        """The plan is made; nothing has run."""

    def said(self, message: str) -> None:
        """Something that takes a while has begun, such as Spark."""

    def started(self, step: Step) -> None:
        """A step has begun."""

    def retrying(self, step: Step, error: SetpointError, seconds: float) -> None:
        """An attempt failed and another follows after a wait."""

    def finished(self, result: RunResult) -> None:
        """A step has ended, one way or another."""


class Silence:
    """A listener that tells nobody."""

    def planned(self, plan: Plan) -> None:
        """Say nothing."""

    def said(self, message: str) -> None:
        """Say nothing."""

    def started(self, step: Step) -> None:
        """Say nothing."""

    def retrying(self, step: Step, error: SetpointError, seconds: float) -> None:
        """Say nothing."""

    def finished(self, result: RunResult) -> None:
        """Say nothing."""
