"""The rows of a counter-example as a small table, the same for text and page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from setpoint.verifying.difference import Difference

MOST_COLUMNS = 7
WIDEST = 32
GAP = "  "


@dataclass(frozen=True, kw_only=True)
class SampleTable:
    """Columns, and lines that begin with - for before and + for after."""

    columns: tuple[str, ...]
    lines: tuple[tuple[str, tuple[str, ...]], ...]
    marked: frozenset[str]
    """The columns in which the rows differ."""
    left_out: int = 0
    """How many columns there was no room for."""


def sample_table(difference: Difference, *, room: int | None = None) -> SampleTable | None:
    """The samples of a difference, in so many characters a line; None when it has none."""
    rows = [row for s in difference.samples for row in (s.before, s.after) if row is not None]
    if not rows:
        return None
    names = list(rows[0])
    # What differs, then what identifies a row, come first when not everything fits.
    first = [n for n in names if n in difference.columns]
    first += [n for n in names if n in difference.key and n not in first]
    kept = [*first, *(n for n in names if n not in first)][:MOST_COLUMNS]
    if room is not None:
        kept = _fitting(kept, rows, room)
    columns = tuple(name for name in names if name in kept)
    lines = []
    for sample in difference.samples:
        if sample.before is not None:
            lines.append(("-", _cells(sample.before, columns)))
        if sample.after is not None:
            lines.append(("+", _cells(sample.after, columns)))
    return SampleTable(
        columns=columns,
        lines=tuple(lines),
        marked=frozenset(difference.columns),
        left_out=len(names) - len(columns),
    )


def _fitting(names: list[str], rows: list[Mapping[str, Any]], room: int) -> list[str]:
    """As many of the columns, the most telling first, as a line has room for; one at least."""
    fitting: list[str] = []
    for name in names:
        width = max(len(name), *(len(_cell(row.get(name))) for row in rows)) + len(GAP)
        if fitting and width > room + len(GAP):
            break
        room -= width
        fitting.append(name)
    return fitting


def _cells(row: Mapping[str, Any], columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_cell(row.get(name)) for name in columns)


def _cell(value: Any) -> str:
    text = "null" if value is None else " ".join(str(value).split())
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
