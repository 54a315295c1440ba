"""One key for one meaning: the SHA-256 of an object's canonical JSON.

The definition: keys of objects sorted by code point; no space between tokens; text in NFC, escaped
only where JSON must be; numbers as plain decimals without exponent, trailing zeros or minus zero,
so that 1, 1.0 and Decimal("1.00") are one; dates as ISO 8601, timestamps in UTC to the microsecond
with a Z; NaN, infinities, lone surrogates and keys that are not text are refused.
"""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

from setpoint.errors import UsageError
from setpoint.model.encoding import plain_decimal

DEEPEST = 64


def idempotency_key(value: Any) -> str:
    """The key of anything that JSON can hold: 64 hexadecimal digits, the same everywhere."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def canonical_json(value: Any) -> str:
    """The one text of this value."""
    return _written(value, 0)


def _written(value: Any, depth: int) -> str:  # noqa: PLR0911 — one line a family of types
    if depth > DEEPEST:
        raise UsageError(f"an object nested deeper than {DEEPEST} levels has no canonical JSON")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (int, float, Decimal)):
        return _number(value)
    if isinstance(value, datetime):
        return f'"{_moment(value)}"'
    if isinstance(value, date):
        return f'"{value.isoformat()}"'
    if isinstance(value, Mapping):
        return _object(value, depth)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_written(each, depth + 1) for each in value) + "]"
    raise UsageError(
        f"a {type(value).__name__} has no canonical JSON",
        next_step="use text, numbers, booleans, dates, timestamps, lists and dictionaries",
    )


def _object(value: Mapping[Any, Any], depth: int) -> str:
    named: dict[str, str] = {}
    for key, each in value.items():
        if not isinstance(key, str):
            raise UsageError(f"the key {key!r} is not text, so the object has no canonical JSON")
        name = unicodedata.normalize("NFC", key)
        if name in named:
            raise UsageError(f"the key {key!r} is there twice once Unicode is normalised")
        named[name] = _written(each, depth + 1)
    return "{" + ",".join(f"{_text(name)}:{named[name]}" for name in sorted(named)) + "}"


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{value!r} holds a lone surrogate, which is no text") from None
    return json.dumps(unicodedata.normalize("NFC", value), ensure_ascii=False)


def _number(value: float | Decimal) -> str:
    if isinstance(value, int):
        return str(int(value))
    finite = value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)
    if not finite:
        raise UsageError(f"{value} is no number that JSON can hold")
    # repr is the shortest text that reads back as the same float.
    return plain_decimal(value if isinstance(value, Decimal) else Decimal(repr(float(value))))


def _moment(value: datetime) -> str:
    if value.tzinfo is None:
        raise UsageError(f"{value.isoformat()} has no time zone, so it names no instant")
    moved = value.astimezone(timezone.utc).replace(tzinfo=None)
    return moved.isoformat(timespec="microseconds") + "Z"
