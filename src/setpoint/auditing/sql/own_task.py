"""A task of Setpoint in SQL: a header in the leading comment, and one SELECT under it."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"\s*/\*(.*?)\*/", re.DOTALL)
_LINES = re.compile(r"\s*((?:--[^\n]*(?:\n\s*|\Z))+)")
_KEYS = ("target", "grain", "write")


def header_of(text: str) -> dict[str, object] | None:
    """What the header says, or None for a file that is no task of Setpoint."""
    match = _BLOCK.match(text) or _LINES.match(text)
    if match is None:
        return None
    words = match.group(1)
    if not all(re.search(rf"(?m)^[\s*-]*{key}\s*:", words) for key in _KEYS):
        return None
    import yaml

    plain = "\n".join(row.removeprefix("--") for row in words.split("\n"))
    try:
        header = yaml.safe_load(plain)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return header if isinstance(header, dict) and all(key in header for key in _KEYS) else None
