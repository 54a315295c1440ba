"""When to try again, and how long to wait before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """Waits that grow: `first` seconds, then `factor` times longer each, at most `longest`."""

    first: float = 1.0
    factor: float = 2.0
    longest: float = 300.0
    jitter: float = 0.5
    """The share of each wait that is left to chance, so that retries of many runs spread out."""

    def delay(self, failures: int, chance: Random) -> float:
        """Seconds to wait after the given number of failures (1 or more)."""
        try:
            full = min(self.longest, self.first * self.factor ** (failures - 1))
        except OverflowError:
            full = self.longest
        return full * (1.0 - self.jitter * chance.random())


@dataclass(frozen=True, kw_only=True)
class Retry:
    """How often a failed run is tried again."""

    retries: int = 0
    backoff: Backoff = Backoff()

    def another(self, *, failures: int, transient: bool) -> bool:
        """Whether a run that has failed this often deserves one more attempt."""
        return transient and failures <= self.retries
