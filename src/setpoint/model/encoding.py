"""How values become text to be hashed, the same in Python as in Spark.

`text_of` is for keys: type-free, so that the number 7 and the text '7' name one customer.
"""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal

from setpoint.errors import UsageError

KeyValue = str | int | bool | date | datetime | Decimal | None


def text_of(value: KeyValue) -> str | None:  # noqa: PLR0911 — one line a family of types
    """The canonical text of a key value; None for null."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return plain_decimal(value)
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(timezone.utc).replace(tzinfo=None)
        return value.isoformat(sep=" ", timespec="microseconds")
    if isinstance(value, date):
        return value.isoformat()
    raise UsageError(
        f"a {type(value).__name__} cannot be part of a key",
        next_step="use text, whole numbers, decimals, dates, timestamps or booleans",
    )


def plain_decimal(value: Decimal) -> str:
    """The number without exponent, trailing zeros or minus zero."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def counted(text: str) -> str:
    """The text with its length in UTF-8 bytes before it: no two lists of texts read alike."""
    return f"{len(text.encode())}:{text}"
