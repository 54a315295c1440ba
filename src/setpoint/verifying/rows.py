"""The rows of one table at one moment, as plain data that can be compared."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from setpoint.model.checksum import ck1

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Row = tuple[Any, ...]
PLAIN = (bool, int, float, Decimal, str, bytes, date)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows with their columns; how often each row stands there."""

    columns: tuple[str, ...] = ()
    counted: Mapping[Row, int] = field(default_factory=dict)
    partial: bool = False
    """Only rows that another moment did not have; the equal ones were left where they are."""
    total: int | None = None
    """The number of rows in the table, where `partial`."""

    @classmethod
    def of(cls, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Rows:
        """Count rows; what cannot be compared by itself is compared by its text."""
        return cls(columns=tuple(columns), counted=Counter(tuple(map(_plain, r)) for r in rows))

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(self.counted.values()) if self.total is None else self.total

    @property
    def checksum(self) -> str:
        """The content checksum `ck1`."""
        rows = (
            dict(zip(self.columns, row, strict=True))
            for row, times in self.counted.items()
            for _ in range(times)
        )
        return str(ck1(rows))

    def named(self, row: Row) -> dict[str, Any]:
        """A row with the names of its columns."""
        return dict(zip(self.columns, row, strict=True))


Tables = dict[str, Rows]
"""Everything that a run may have changed, by table."""


def _plain(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return "NaN"  # which is never equal to itself
    if isinstance(value, (memoryview, bytearray)):
        return bytes(value)
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    if isinstance(value, dict):
        return repr(sorted((str(key), _plain(each)) for key, each in value.items()))
    # What the checksum has no encoding for (a UUID, an interval) is compared by its text.
    return value if value is None or isinstance(value, PLAIN) else str(value)
