"""What one thread prints, kept; what others print meanwhile goes where it should."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

_PRINTING = threading.Lock()


def printed(action: Callable[[], object]) -> str:
    """What an action prints to standard output, which is one for all threads."""
    with _PRINTING:
        kept = _OfOneThread(sys.stdout)
        with contextlib.redirect_stdout(cast("IO[str]", kept)):
            action()
    return kept.text


class _OfOneThread:
    """Standard output with a branch for the thread that made it."""

    def __init__(self, beside: Any) -> None:
        self._thread = threading.get_ident()
        self._beside = beside
        self._kept = io.StringIO()

    @property
    def text(self) -> str:
        """What the thread has printed."""
        return self._kept.getvalue()

    def write(self, text: str) -> int:
        """Keep it, or pass it on."""
        own = threading.get_ident() == self._thread
        return int((self._kept if own else self._beside).write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._beside, name)
