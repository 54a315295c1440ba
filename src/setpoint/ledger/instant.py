"""Moments as the ledger writes them: UTC, ISO 8601, sorted as text as they are in time."""

from __future__ import annotations

from datetime import datetime, timezone


def utc_now() -> datetime:
    """The wall clock, for a person to read. Nothing in the ledger is decided by it."""
    return datetime.now(timezone.utc)


def in_utc(moment: datetime) -> datetime:
    """The same moment in UTC; a moment without a time zone is refused."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone; the ledger keeps UTC only.")
    return moment.astimezone(timezone.utc)


def to_text(moment: datetime) -> str:
    """The moment as text, without microseconds when there are none.

    The offset is written `+00:00`, not `Z`: `+` sorts before the `.` of a fraction, so that the
    order of the texts is the order of the moments.
    """
    return in_utc(moment).isoformat()


def from_text(text: str) -> datetime:
    """The moment that `to_text` wrote."""
    return datetime.fromisoformat(text)
