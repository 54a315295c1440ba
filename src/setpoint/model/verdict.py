"""What a receiver's answer means: it arrived, it did not, or nobody knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Arrival = Literal["sent", "again", "refused", "unclear"]

TIMED_OUT, TOO_MANY, UNAVAILABLE = 408, 429, 503


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One attempt's end. `again`: not received, worth another try; `unclear`: may have arrived."""

    arrival: Arrival
    reason: str = ""
    status: int | None = None
    retry_after: float | None = None
    """Seconds for which the receiver asked to be left alone."""


def http_verdict(status: int, *, retry_after: float | None = None, said: str = "") -> Verdict:
    """What an HTTP status means for a message that must arrive once."""
    reason = f"HTTP {status}" + (f": {said}" if said else "")
    if 200 <= status < 300:  # noqa: PLR2004
        return Verdict(arrival="sent", status=status)
    arrival: Arrival
    if status in (TIMED_OUT, TOO_MANY) or (status == UNAVAILABLE and retry_after is not None):
        arrival = "again"
    elif status >= 500 or status < 200:  # noqa: PLR2004
        # The server broke somewhere; it may have acted before.
        arrival = "unclear"
    else:
        arrival = "refused"
    return Verdict(arrival=arrival, reason=reason, status=status, retry_after=retry_after)


def smtp_verdict(code: int, said: str = "") -> Verdict:
    """What a mail server's reply means; it replied, so nothing is unclear."""
    reason = f"SMTP {code}" + (f": {said}" if said else "")
    if 200 <= code < 300:  # noqa: PLR2004
        return Verdict(arrival="sent", status=code)
    if 400 <= code < 500:  # noqa: PLR2004
        return Verdict(arrival="again", reason=reason, status=code)
    return Verdict(arrival="refused", reason=reason, status=code)
