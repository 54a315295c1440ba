"""Offsets of a text → its lines."""

from __future__ import annotations

import re
from bisect import bisect_right

from setpoint.auditing.facts import Spot

_SHORT_TEXT = 20_000
"""Counting the line breaks of a shorter text is quicker than listing them."""


class Lines:
    """Offsets of a text → line numbers."""

    def __init__(self, text: str, first: int = 1) -> None:
        self._text = text
        self._starts: list[int] = []
        self._first = first

    def at(self, offset: int) -> int:
        """The line that the character at `offset` stands on."""
        if len(self._text) < _SHORT_TEXT:
            return self._text.count("\n", 0, max(0, offset)) + self._first
        if not self._starts:
            self._starts = [0, *(match.end() for match in re.finditer("\n", self._text))]
        return bisect_right(self._starts, max(0, offset)) - 1 + self._first

    def spot(self, start: int, end: int) -> Spot:
        """The spot of the characters in `[start, end)`."""
        return Spot(
            line=self.at(start), end_line=self.at(max(start, end - 1)), start=start, end=end
        )
