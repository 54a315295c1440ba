"""The content checksum `ck1`: equal for equal rows, whatever their order or partitioning.

Each row becomes one text: its columns in name order, each with a tag for its family of types, so
that null, '' and 0 differ, and a widened column (int → bigint) does not change the sum. The text
is hashed with SHA-256; the checksum is the number of rows and two wrapping 64-bit sums of hashes.

    null n        boolean b0 b1     whole number i7;        decimal d1.5;      float f<bits>;
    text s3:abc   binary x4:00FF    date t<days>;           timestamp T<µs>;   without zone N<µs>;
    array a2[…]   map m1{…}         struct r2(4:name…)

Floats are taken bit by bit (all NaNs are one, -0.0 is 0.0). A sum of floats depends on the order of
its rows, so use decimals where the checksum should hold.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from setpoint.errors import UsageError
from setpoint.model.encoding import counted, plain_decimal

WRAP = 1 << 64
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 — wall clock arithmetic
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Checksum:
    """The number of rows and two wrapping sums over their hashes."""

    rows: int
    first: int
    second: int

    def __str__(self) -> str:
        return f"ck1:{self.rows}:{self.first:016x}{self.second:016x}"


def ck1(rows: Iterable[Mapping[str, Any]]) -> Checksum:
    """The checksum of rows given as mappings from column name to value."""
    count = first = second = 0
    for row in rows:
        digest = hashlib.sha256(encode_row(row).encode()).digest()
        count += 1
        first += int.from_bytes(digest[:8], "big")
        second += int.from_bytes(digest[8:16], "big")
    return Checksum(count, first % WRAP, second % WRAP)


def encode_row(row: Mapping[str, Any]) -> str:
    """The text of one row that is hashed."""
    fields = "".join(counted(name) + _encode(row[name]) for name in sorted(row, key=str.encode))
    return f"r{len(row)}({fields})"


def _encode(value: Any) -> str:  # noqa: PLR0911 — one line a family of types
    if value is None:
        return "n"
    if isinstance(value, bool):
        return f"b{value:d}"
    if isinstance(value, int):
        return f"i{value};"
    if isinstance(value, float):
        return f"f{_float_mix(value)};"
    if isinstance(value, Decimal):
        return f"d{plain_decimal(value)};"
    if isinstance(value, str):
        return "s" + counted(value)
    if isinstance(value, (bytes, bytearray)):
        return "x" + counted(bytes(value).hex().upper())
    if isinstance(value, (date, datetime)):
        return _encode_time(value)
    return _encode_nested(value)


def _encode_time(value: date | datetime) -> str:
    if not isinstance(value, datetime):
        return f"t{(value - EPOCH.date()).days};"
    if value.tzinfo is None:
        return f"N{(value - EPOCH) // MICROSECOND};"
    utc = value.astimezone(timezone.utc).replace(tzinfo=None)
    return f"T{(utc - EPOCH) // MICROSECOND};"


def _encode_nested(value: Any) -> str:
    if isinstance(value, Mapping):
        entries = sorted((_encode(k) + _encode(v) for k, v in value.items()), key=str.encode)
        return f"m{len(entries)}{{{''.join(entries)}}}"
    names = getattr(value, "__fields__", None) or getattr(value, "_fields", None)
    if names is not None:
        return encode_row(dict(zip(names, value, strict=True)))
    if isinstance(value, Sequence):
        return f"a{len(value)}[{''.join(map(_encode, value))}]"
    raise UsageError(f"ck1 has no encoding for a {type(value).__name__}")


def _float_mix(value: float) -> int:
    """The bits of a float, mixed one-to-one by xxhash64: the only way in which Spark shows them."""
    if value != value:  # noqa: PLR0124 — NaN
        bits = 0x7FF8000000000000
    else:
        bits = 0 if value == 0 else struct.unpack("<Q", struct.pack("<d", value))[0]
    mixed = (42 + 0x27D4EB2F165667C5 + 8) % WRAP
    mixed ^= _rotate(bits * 0xC2B2AE3D27D4EB4F % WRAP, 31) * 0x9E3779B185EBCA87 % WRAP
    mixed = (_rotate(mixed, 27) * 0x9E3779B185EBCA87 + 0x85EBCA77C2B2AE63) % WRAP
    mixed = (mixed ^ mixed >> 33) * 0xC2B2AE3D27D4EB4F % WRAP
    mixed = (mixed ^ mixed >> 29) * 0x165667B19E3779F9 % WRAP
    mixed ^= mixed >> 32
    return mixed - WRAP if mixed >= WRAP // 2 else mixed


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) % WRAP
