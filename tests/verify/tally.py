"""What became of the planted cases, in figures for the end of `make verify-faults`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.verify.case import Case

    from setpoint.verifying.verdict import Verdict


@dataclass
class Tally:
    """Names of cases, by what was found out about them."""

    broken: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    misnamed: list[str] = field(default_factory=list)
    sound: list[str] = field(default_factory=list)
    accused: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add_broken(self, case: Case, verdict: Verdict) -> None:
        """Count a case that is known to be broken."""
        self.seconds += verdict.seconds
        self.broken.append(case.name)
        if verdict.error is not None or verdict.idempotent:
            self.missed.append(case.name)
        elif not case.causes & named_causes(verdict):
            self.misnamed.append(case.name)

    def add_sound(self, case: Case, verdict: Verdict) -> None:
        """Count a case that is known to be sound."""
        self.seconds += verdict.seconds
        self.sound.append(case.name)
        if verdict.error is not None or not verdict.idempotent:
            self.accused.append(case.name)

    def lines(self) -> list[str]:
        """The figures, and the names behind those that should be nought."""
        caught = len(self.broken) - len(self.missed)
        named = caught - len(self.misnamed)
        lines = [
            f"broken: {len(self.broken)}, caught {caught}, with the right cause {named}",
            f"sound: {len(self.sound)}, falsely accused {len(self.accused)}",
        ]
        for words, names in (
            ("not caught", self.missed),
            ("another cause named", self.misnamed),
            ("falsely accused", self.accused),
        ):
            if names:
                lines.append(f"{words}: {', '.join(names)}")
        return [*lines, f"verified in {self.seconds:.0f} s"]


def named_causes(verdict: Verdict) -> set[str]:
    """The kinds of cause that a verdict names."""
    return {found.cause.kind for found in verdict.failures if found.cause}


TALLY = Tally()
