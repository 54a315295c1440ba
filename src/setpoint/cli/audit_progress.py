"""Progress of a long audit, on the terminal only."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

_PATIENCE = 2.0
_EVERY = 0.1


class Progress:
    """One line that counts files, once an audit has taken longer than two seconds."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._drawn = 0.0

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int, total: int) -> None:
        """Say that so many of the files are read."""
        now = time.monotonic()
        if now - self._began < _PATIENCE or now - self._drawn < _EVERY or not sys.stderr.isatty():
            return
        self._drawn = now
        sys.stderr.write(f"\rreading {done:,} of {total:,} files\x1b[K")
        sys.stderr.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave no trace on the terminal."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
