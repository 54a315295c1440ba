"""How far a backfill is: windows done, failed and running, how fast, and how long still. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from setpoint.backfilling.plan import BackfillPlan
    from setpoint.errors import SetpointError


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A moment of a backfill."""

    total: int
    done: int = 0
    failed: int = 0
    blocked: int = 0
    """Windows not run because what they read did not succeed."""
    running: int = 0
    rows: int = 0
    seconds: float = 0.0
    """Since the first job began."""

    @property
    def ended(self) -> int:
        """Windows that need no more work."""
        return self.done + self.failed + self.blocked

    @property
    def rate(self) -> float | None:
        """Windows a second, over all so far."""
        tried = self.done + self.failed
        return tried / self.seconds if tried and self.seconds > 0 else None

    @property
    def remaining_seconds(self) -> float | None:
        """How long still, at this rate."""
        return (self.total - self.ended) / self.rate if self.rate else None

    def began(self, windows: int) -> Progress:
        """A job has begun."""
        return replace(self, running=self.running + windows)

    def ended_job(
        self, *, windows: int, done: int, failed: int, blocked: int, rows: int
    ) -> Progress:
        """A job has ended."""
        return replace(
            self,
            running=self.running - windows,
            done=self.done + done,
            failed=self.failed + failed,
            blocked=self.blocked + blocked,
            rows=self.rows + rows,
        )


@dataclass(frozen=True, kw_only=True)
class JobReport:
    """One job as it ended, for a line of its own."""

    task: str
    label: str
    windows: int
    state: str
    rows: int | None = None
    replaced: int | None = None
    seconds: float | None = None
    error: SetpointError | None = None


class BackfillListener(Protocol):
    """Told of each thing as it happens."""

    def planned(self, plan: BackfillPlan) -> None:
        """The plan is made; nothing has run."""

    def said(self, message: str) -> None:
        """Something that takes a while has begun, such as Spark."""

    def began(self, backfill_id: str, plan: BackfillPlan) -> None:
        """Jobs begin."""

    def reported(self, report: JobReport) -> None:
        """A job has ended."""

    def progressed(self, progress: Progress) -> None:
        """The counts have changed, or some time has passed."""

    def over(self) -> None:
        """No more jobs."""


class Quiet:
    """A listener that tells nobody."""

    def planned(self, plan: BackfillPlan) -> None:
        """Say nothing."""

    def said(self, message: str) -> None:
        """Say nothing."""

    def began(self, backfill_id: str, plan: BackfillPlan) -> None:
        """Say nothing."""

    def reported(self, report: JobReport) -> None:
        """Say nothing."""

    def progressed(self, progress: Progress) -> None:
        """Say nothing."""

    def over(self) -> None:
        """Say nothing."""
