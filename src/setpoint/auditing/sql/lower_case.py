"""Patterns over lower-case text, which are found several times quicker than by ignoring case."""

from __future__ import annotations

import re


class LowerCasePattern:
    """A pattern over the text in lower case, asked only where a piece of it stands at all."""

    def __init__(self, pattern: str, pieces: tuple[str, ...]) -> None:
        self._pattern = re.compile(pattern, re.DOTALL)
        # One of these stands in every match; most texts hold none.
        self._pieces = pieces

    def search(self, text: str) -> re.Match[str] | None:
        """The first match; its offsets fit the text as long as that is ASCII."""
        lowered = text.lower()
        if not any(piece in lowered for piece in self._pieces):
            return None
        return self._pattern.search(lowered)
