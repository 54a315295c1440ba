from __future__ import annotations

import io
from typing import TYPE_CHECKING

from setpoint.cli.audit_progress import Progress

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    """A stream that says that a person is looking."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def shown(stream: io.StringIO, seconds: float, monkeypatch: pytest.MonkeyPatch) -> str:
    """What an audit of so many seconds leaves on the stream."""
    clock = iter([100.0, 100.0 + seconds, 200.0, 200.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    monkeypatch.setattr("sys.stderr", stream)
    with Progress() as progress:
        progress(10, 2000)
    return stream.getvalue()


def test_a_short_audit_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing flickers in the first two seconds."""
    assert not shown(Terminal(), 1.0, monkeypatch)


def test_a_long_audit_counts_files_and_cleans_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, gone at the end."""
    text = shown(Terminal(), 3.0, monkeypatch)
    assert "reading 10 of 2,000 files" in text
    assert text.endswith("\r\x1b[K")


def test_a_pipe_never_sees_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of CI stay clean."""
    assert not shown(io.StringIO(), 30.0, monkeypatch)
