"""How long the slice is that a filter, a partition or a path names."""

from __future__ import annotations

import re

RANK = {"minute": 0, "hour": 1, "day": 2, "week": 3, "month": 4}
"""From short to long."""

_MONTH = re.compile(
    r"(?i)ds\[:7\]|ds_nodash\[:6\]|%y-?%m(?!-?%d)|\bmonth\b|year_?month|yyyy-?mm(?!-?dd)|\bym\b"
)
_HOUR = re.compile(
    r"(?i)hour|\bhr\b|\bts\b|ts_nodash|data_interval|%h|next_execution|partition_time_window|\bhh\b"
    r"|minute"
)
_DAY = re.compile(
    r"(?i)\bds\b|ds_nodash|\bdt\b|date|\bday\b|\bds_|%d|yyyy-?mm-?dd|partition_key|\bdays?\b"
)
_HELD = re.compile(r"\{[^{}]*\}|\b(?:dt|ds|date|day|hour|month|partition)[\w]*=", re.IGNORECASE)


def grain_of(text: str) -> str:
    """The shortest slice that a text names: hour, day, month, or not known."""
    if not text:
        return ""
    if _HOUR.search(text):
        return "hour"
    rest = _MONTH.sub(" ", text)
    if _DAY.search(rest):
        return "day"
    return "month" if rest != text else ""


def grain_of_path(path: str) -> str:
    """The slice that a path's templates and partition folders name."""
    held = _HELD.findall(path)
    return grain_of(" ".join(held)) if any("{" in one for one in held) else ""
