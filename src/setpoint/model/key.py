"""Surrogate keys: a hash of stable columns that is the same wherever it is computed.

The definition, byte for byte: each value becomes its canonical text (`encoding.text_of`); a null is
`n`, any other value its length in UTF-8 bytes, a colon and the text; these are joined without a
separator; the key is the SHA-256 of that in lower-case hex.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from setpoint.errors import UsageError
from setpoint.model.encoding import counted, text_of

if TYPE_CHECKING:
    from setpoint.model.encoding import KeyValue

# Timestamps are written by to_json because it takes the zone as an option: a plain cast to text
# would depend on the session, and lose which of two 02:30s is meant when clocks go back.
_STAMP = (
    "substring(to_json(named_struct('v', {x}), map('timeZone', 'UTC', "
    "'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS', "
    "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')), 7, 26)"
)
_DECIMAL = (
    "CASE WHEN contains(CAST({x} AS STRING), '.') THEN "
    "trim(TRAILING '.' FROM trim(TRAILING '0' FROM CAST({x} AS STRING))) "
    "ELSE CAST({x} AS STRING) END"
)
_TEXT = (
    "CASE WHEN {x} IS NULL THEN NULL "
    "WHEN typeof({x}) IN ('timestamp', 'timestamp_ntz') THEN " + _STAMP + " "
    "WHEN typeof({x}) LIKE 'decimal%' THEN " + _DECIMAL + " "
    "WHEN typeof({x}) IN ('string', 'boolean', 'tinyint', 'smallint', 'int', 'bigint', 'date') "
    "THEN CAST({x} AS STRING) "
    "ELSE raise_error(concat('surrogate_key: a ', typeof({x}), ' cannot be part of a key')) END"
)
_COUNTED = "coalesce(concat(CAST(octet_length({text}) AS STRING), ':', {text}), 'n')"


def surrogate_key_of(*values: KeyValue) -> str:
    """The surrogate key of Python values."""
    if not values:
        raise UsageError("surrogate_key needs at least one column")
    texts = (text_of(value) for value in values)
    encoded = "".join("n" if text is None else counted(text) for text in texts)
    return hashlib.sha256(encoded.encode()).hexdigest()


def surrogate_key_sql(*expressions: str) -> str:
    """The surrogate key of SQL expressions, as a Spark SQL expression."""
    if not expressions:
        raise UsageError("surrogate_key needs at least one column")
    parts = []
    for expression in expressions:
        text = "(" + _TEXT.format(x=f"({expression})") + ")"
        parts.append(_COUNTED.format(text=text))
    return f"sha2(concat({', '.join(parts)}), 256)"
